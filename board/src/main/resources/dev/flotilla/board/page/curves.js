/*
 * Curves of runs, drawn by uPlot: one figure per chart, with zoom, hover, linear and log, and PNG.
 *
 *   var curves = FlotillaCurves(element);   // where figures go
 *   curves.update(runs);                    // runs as charts.js describes them; may be called again
 *
 * A later update keeps zoom, scale and focus of every chart whose lines are still the same.
 * Names are set as text, never as markup.
 */
"use strict";

var FlotillaCurves = (function () {
  // Okabe and Ito's palette: yellow cannot be read on white, nor dark blue on black.
  var ON_LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
  var ON_DARK = ["#56B4E9", "#E69F00", "#2FC79A", "#CC79A7", "#F0E442", "#D55E00"];
  var DARK = matchMedia("(prefers-color-scheme: dark)");
  var DASHES = { training: [], "training batch": [], test: [6, 4], largest: [6, 4], "GPU peak": [6, 4], ema: [2, 3] };
  var FIRST = ["loss", "accuracy", "accuracy_top5"];
  var LAST = ["learning rate", "throughput", "memory", "bytes sent", "density", "averaging interval", "drift"];

  function css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function colour(i) {
    return i % 7 === 6 ? css("--ink") : (DARK.matches ? ON_DARK : ON_LIGHT)[i % 7];
  }

  function node(tag, className, text) {
    var it = document.createElement(tag);
    if (className) it.className = className;
    if (text !== undefined) it.textContent = text;
    return it;
  }

  function place(list, name) {
    var at = list.indexOf(name);
    return at < 0 ? list.length : at;
  }

  /* Sorts the series of all runs into charts. */
  function chartsOf(runs) {
    var byName = new Map();
    runs.forEach(function (run, r) {
      run.series.forEach(function (series) {
        if (!byName.has(series.chart)) byName.set(series.chart, { name: series.chart, unit: series.unit, isOfMany: runs.length > 1, lines: [] });
        var chart = byName.get(series.chart);
        var label = runs.length === 1 ? series.line || series.chart : run.name + (series.line ? " " + series.line : "");
        chart.lines.push({ label: label, line: series.line, run: r, x: series.x, y: series.y });
      });
    });
    var order = function (chart) {
      var first = FIRST.indexOf(chart.name);
      if (first >= 0) return first;
      return LAST.indexOf(chart.name) < 0 ? 10 : 20 + place(LAST, chart.name);
    };
    return Array.from(byName.values()).sort(function (a, b) {
      return order(a) - order(b) || (a.name < b.name ? -1 : 1);
    });
  }

  /* One column of updates for all lines; what a line has no point at is undefined, and is no gap. */
  function columns(lines, isLog) {
    var tables = lines.map(function (line) {
      var y = isLog ? line.y.map(function (v) { return v > 0 ? v : null; }) : line.y;
      return [line.x, y];
    });
    var same = lines.every(function (line) {
      var first = lines[0].x;
      return line.x.length === first.length && line.x[0] === first[0] && line.x[line.x.length - 1] === first[first.length - 1] &&
        line.x.every(function (v, i) { return v === first[i]; });
    });
    return same ? [lines[0].x].concat(tables.map(function (t) { return t[1]; })) : uPlot.join(tables);
  }

  function text(value, unit) {
    if (value === null || value === undefined) return "–";
    if (unit === "B") return bytes(value);
    var size = Math.abs(value);
    if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
    return size >= 1000 ? Math.round(value).toLocaleString("en") : String(+value.toPrecision(5));
  }

  function bytes(value) {
    var units = ["B", "kB", "MB", "GB", "TB"];
    var i = 0;
    while (Math.abs(value) >= 1000 && i < units.length - 1) { value /= 1000; i++; }
    return (i === 0 ? value : value.toPrecision(3)) + " " + units[i];
  }

  function options(chart, card, isLog) {
    var axis = { stroke: css("--ink-2"), grid: { stroke: css("--line"), width: 1 }, ticks: { stroke: css("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
    return {
      width: Math.max(220, card.plot.clientWidth),
      height: 230,
      cursor: { drag: { x: true, y: false }, points: { size: 7 }, focus: { prox: 16 } },
      focus: { alpha: chart.lines.length > 6 ? 0.25 : 0.5 },
      legend: { live: true },
      hooks: { setCursor: [showLast], setData: [showLast], ready: [showLast] },
      scales: { x: { time: false }, y: isLog ? { distr: 3 } : {} },
      axes: [
        Object.assign({ label: "updates", labelSize: 20, labelFont: "12px system-ui, sans-serif", size: 32 }, axis),
        Object.assign({ size: 62, values: function (u, ticks) { return ticks.map(function (v) { return v === null ? "" : text(v, chart.unit); }); } }, axis)
      ],
      series: [{ label: "update", value: function (u, v) { return v === null || v === undefined ? "–" : v.toLocaleString("en"); } }].concat(
        chart.lines.map(function (line, i) {
          var few = line.x.length < 60;
          return {
            label: line.label,
            stroke: colour(chart.isOfMany ? line.run : i),
            width: 1.6,
            dash: DASHES[line.line] || [],
            spanGaps: false,
            points: few ? { show: true, size: 5, fill: css("--card") } : { show: false },
            value: function (u, v) { return text(v, chart.unit); }
          };
        }))
    };
  }

  function button(label, title, action) {
    var it = node("button", "tool", label);
    it.type = "button";
    it.title = title;
    it.addEventListener("click", action);
    return it;
  }

  /* The figure of a chart, with its tools. */
  function Card(chart) {
    var self = this;
    this.isLog = false;
    this.figure = node("figure", "chart");
    var head = node("figcaption");
    head.append(node("h3", "", chart.name + (chart.unit && chart.unit !== "B" ? " (" + chart.unit + ")" : "")));
    this.log = button("log", "Logarithmic scale", function () {
      self.isLog = !self.isLog;
      self.log.setAttribute("aria-pressed", String(self.isLog));
      self.draw();
    });
    this.log.setAttribute("aria-pressed", "false");
    var tools = node("span", "tools");
    tools.append(this.log,
      button("reset", "Show all updates again", function () { self.all(); }),
      button("PNG", "Save this chart as a picture", function () { self.save(); }));
    head.append(tools);
    this.plot = node("div", "plot");
    this.plot.tabIndex = 0;
    this.plot.setAttribute("role", "img");
    this.plot.addEventListener("keydown", function (event) { self.key(event); });
    this.figure.append(head, this.plot);
    this.chart = chart;
    this.size = new ResizeObserver(function () {
      var width = Math.max(220, self.plot.clientWidth);
      if (self.u && Math.abs(self.u.width - width) > 1) self.u.setSize({ width: width, height: 230 });
    });
    this.size.observe(this.plot);
  }

  Card.prototype.signature = function (chart) {
    return JSON.stringify([chart.isOfMany, chart.lines.map(function (it) { return [it.label, it.run, it.line]; })]);
  };

  Card.prototype.show = function (chart) {
    var isSame = this.u && this.signature(chart) === this.signature(this.chart);
    this.chart = chart;
    this.describe();
    if (isSame) {
      var x = this.u.scales.x;
      var isZoomed = this.isZoomed();
      this.u.batch(function (u) {
        u.setData(columns(chart.lines, this.isLog), !isZoomed);
        if (isZoomed) u.setScale("x", { min: x.min, max: x.max });
      }.bind(this, this.u));
    } else {
      this.draw();
    }
  };

  Card.prototype.describe = function () {
    var unit = this.chart.unit;
    this.plot.setAttribute("aria-label", this.chart.name + " over updates. " + this.chart.lines.slice(0, 8).map(function (line) {
      return line.label + ": last " + text(line.y[line.y.length - 1], unit);
    }).join("; ") + ". Arrow keys move the cursor, plus and minus zoom, 0 shows all.");
  };

  Card.prototype.isZoomed = function () {
    var x = this.u.data[0];
    return x.length > 0 && (this.u.scales.x.min > x[0] || this.u.scales.x.max < x[x.length - 1]);
  };

  /* Where the mouse is nowhere, the legend shows what each line has come to. */
  function showLast(u) {
    if (!u.data || u.cursor.left >= 0) return;
    u.setLegend({ idxs: u.data.map(function (column) {
      for (var i = column.length - 1; i >= 0; i--) {
        if (column[i] !== undefined) return i;
      }
      return null;
    }) }, false);
  }

  Card.prototype.draw = function () {
    if (this.u) this.u.destroy();
    this.describe();
    this.u = new uPlot(options(this.chart, this, this.isLog), columns(this.chart.lines, this.isLog), this.plot);
    var labels = this.plot.querySelectorAll(".u-series th");
    for (var i = 1; i < labels.length; i++) this.reachable(labels[i]);
  };

  /* A legend's entry switches its line; by keyboard too. */
  Card.prototype.reachable = function (label) {
    label.tabIndex = 0;
    label.setAttribute("role", "button");
    label.addEventListener("keydown", function (event) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        event.stopPropagation();
        label.click();
      }
    });
  };

  Card.prototype.all = function () {
    var x = this.u.data[0];
    if (x.length > 0) this.u.setScale("x", { min: x[0], max: x[x.length - 1] });
  };

  Card.prototype.key = function (event) {
    var u = this.u;
    var x = u.data[0];
    var last = x.length - 1;
    if (last < 0 || event.ctrlKey || event.altKey || event.metaKey) return;
    var at = u.cursor.idx === null || u.cursor.idx === undefined ? 0 : u.cursor.idx;
    var min = u.scales.x.min;
    var max = u.scales.x.max;
    var step = Math.max(1, Math.round(last / 100));
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      var to = Math.min(last, Math.max(0, at + (event.key === "ArrowRight" ? step : -step)));
      u.setCursor({ left: u.valToPos(x[to], "x"), top: 20 });
    } else if (event.key === "+" || event.key === "-") {
      var middle = Math.min(max, Math.max(min, x[at]));
      var half = (max - min) * (event.key === "+" ? 0.25 : 1);
      u.setScale("x", { min: Math.max(x[0], middle - half), max: Math.min(x[last], middle + half) });
    } else if (event.key === "0") {
      this.all();
    } else {
      return;
    }
    event.preventDefault();
  };

  /* The chart as it is shown, with its title and the names of its lines. */
  Card.prototype.save = function () {
    var drawn = this.u.ctx.canvas;
    var scale = drawn.width / this.u.width;
    var out = document.createElement("canvas");
    var lines = this.chart.lines;
    out.width = drawn.width;
    out.height = drawn.height + (34 + 18 * lines.length) * scale;
    var ctx = out.getContext("2d");
    ctx.fillStyle = css("--card");
    ctx.fillRect(0, 0, out.width, out.height);
    ctx.scale(scale, scale);
    ctx.fillStyle = css("--ink");
    ctx.font = "600 14px system-ui, sans-serif";
    ctx.fillText(this.chart.name, 8, 20);
    ctx.font = "12px system-ui, sans-serif";
    var series = this.u.series;
    lines.forEach(function (line, i) {
      ctx.fillStyle = series[i + 1].stroke();
      ctx.fillRect(8, drawn.height / scale + 40 + 18 * i, 12, 4);
      ctx.fillStyle = css("--ink");
      ctx.fillText(line.label, 26, drawn.height / scale + 46 + 18 * i);
    });
    ctx.setTransform(1, 0, 0, 1, 0, 0);
    ctx.drawImage(drawn, 0, 28 * scale);
    var name = this.chart.name.replace(/[^A-Za-z0-9]+/g, "-");
    out.toBlob(function (blob) {
      var link = document.createElement("a");
      link.href = URL.createObjectURL(blob);
      link.download = name + ".png";
      link.click();
      setTimeout(function () { URL.revokeObjectURL(link.href); }, 10000);
    });
  };

  Card.prototype.remove = function () {
    this.size.disconnect();
    if (this.u) this.u.destroy();
    this.figure.remove();
  };

  function make(root) {
    var cards = new Map();
    DARK.addEventListener("change", function () {
      cards.forEach(function (card) { card.draw(); });
    });
    return {
      update: function (runs) {
        var charts = chartsOf(runs);
        var names = new Set(charts.map(function (it) { return it.name; }));
        cards.forEach(function (card, name) {
          if (!names.has(name)) { card.remove(); cards.delete(name); }
        });
        charts.forEach(function (chart, i) {
          var card = cards.get(chart.name);
          if (!card) {
            card = new Card(chart);
            cards.set(chart.name, card);
          }
          if (root.children[i] !== card.figure) root.insertBefore(card.figure, root.children[i] || null);
          card.show(chart);
        });
      }
    };
  }

  make.colour = colour;
  make.node = node;
  make.text = text;
  make.bytes = bytes;
  return make;
})();
