"use strict";
Flotilla.render(document.getElementById("page"), JSON.parse(document.getElementById("runs").textContent));
document.documentElement.dataset.ready = Math.round(performance.now());
