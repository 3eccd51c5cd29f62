/*
 * A page about runs: overview or comparison, curves, time of steps, timeline, configuration.
 *
 *   Flotilla.render(root, runs);   // fills an element
 *   Flotilla.update(runs);         // later, with new data: keeps zoom, scales and focus
 *
 * runs is a list of what RunJson writes for a run:
 *   name, status ("finished", "unfinished", or what a board knows better: "running", "dead")
 *   facts      [[name, text], ...]                       what the run was, for people
 *   results    [[name, number or text, unit], ...]       what it achieved; unit "B", "%" or ""
 *   series     [{chart, line, unit, x: [updates], y: [values, null where not finite]}, ...]
 *   times      [{rank, data, forward, backward, exchange, update, other, hidden}, ...]   seconds
 *   timeline   [{kind, update, time, text}, ...]
 *   planned    [[name, predicted, measured, unit], ...]
 *   pipeline   [[phase, text], ...]
 *   settings   [[key, text], ...]
 *
 * Needs uPlot and curves.js before it. Names of runs, metrics and settings are set as text, never
 * as markup, and nothing is fetched.
 */
"use strict";

var Flotilla = (function () {
  var node = FlotillaCurves.node;
  var PARTS = [
    ["data", "waiting for data", "#E69F00"],
    ["forward", "forward", "#56B4E9"],
    ["backward", "backward", "#0072B2"],
    ["hidden", "backward, exchange hidden behind it", "#0072B2"],
    ["exchange", "exchange, not hidden", "#D55E00"],
    ["update", "update", "#009E73"],
    ["other", "other", "#8A8A8A"]
  ];
  var KINDS = {
    EVALUATION: ["evaluation", "#009E73"],
    CHECKPOINT: ["checkpoint", "#0072B2"],
    EPOCH: ["end of an epoch", "#8A8A8A"],
    RESTART: ["restart", "#D55E00"],
    SKIP: ["skipped update", "#CC79A7"],
    STRAGGLER: ["straggler", "#E69F00"],
    NOTE: ["note", "#56B4E9"]
  };
  var parts = null;

  function shown(value, unit) {
    if (value === null || value === undefined || value === "") return "–";
    if (typeof value !== "number") return String(value);
    if (unit === "%") return (100 * value).toFixed(2) + " %";
    if (unit === "B") return FlotillaCurves.bytes(value);
    if (unit === "s") return value >= 10 ? value.toFixed(1) + " s" : FlotillaCurves.text(value) + " s";
    return FlotillaCurves.text(value, unit) + (unit ? " " + unit : "");
  }

  function table(head, rows, className) {
    var scroll = node("div", "scroll");
    scroll.tabIndex = 0;
    var it = node("table", className || "");
    var top = node("tr");
    head.forEach(function (text) { var th = node("th", "", text); th.scope = "col"; top.append(th); });
    var thead = node("thead");
    thead.append(top);
    var body = node("tbody");
    rows.forEach(function (row) {
      var tr = node("tr", row.className || "");
      row.cells.forEach(function (cell, i) {
        var td = node(i === 0 ? "th" : "td", typeof cell === "object" ? cell.className : "", typeof cell === "object" ? cell.text : cell);
        if (i === 0) td.scope = "row";
        tr.append(td);
      });
      body.append(tr);
    });
    it.append(thead, body);
    scroll.append(it);
    return scroll;
  }

  function badge(status) {
    return node("span", "badge " + (/^[a-z]+$/.test(status) ? status : "unfinished"), status);
  }

  function overview(runs) {
    var box = node("div");
    if (runs.length === 1) {
      var cards = node("dl", "cards");
      runs[0].results.forEach(function (it) {
        var card = node("div", "card");
        card.append(node("dt", "", it[0]), node("dd", "", shown(it[1], it[2])));
        cards.append(card);
      });
      box.append(cards, list(runs[0].facts, "facts"));
      return box;
    }
    var names = [];
    runs.forEach(function (run) {
      run.results.forEach(function (it) { if (names.indexOf(it[0]) < 0) names.push(it[0]); });
    });
    box.append(table(["run", "status"].concat(names), runs.map(function (run, r) {
      var values = new Map(run.results.map(function (it) { return [it[0], shown(it[1], it[2])]; }));
      return { cells: [run.name, run.status].concat(names.map(function (name) { return values.get(name) || "–"; })) };
    }), "compare"));
    box.querySelectorAll("tbody th").forEach(function (th, r) {
      var mark = node("span", "mark");
      mark.style.background = FlotillaCurves.colour(r);
      th.prepend(mark);
    });
    return box;
  }

  function list(pairs, className) {
    var all = node("dl", className);
    pairs.forEach(function (it) {
      var line = node("div");
      var name = node("dt");
      it[0].split(/(?<=[._])/).forEach(function (word) { name.append(word, node("wbr")); });
      line.append(name, node("dd", "", it[1]));
      all.append(line);
    });
    return all;
  }

  /* What is hidden is a part of backward, drawn apart so that both can be seen. */
  function seconds(time, part) {
    if (part === "backward") return Math.max(0, time.backward - time.hidden);
    return Math.min(time[part], part === "hidden" ? time.backward : Infinity);
  }

  function times(runs) {
    var box = node("div");
    var rows = [];
    runs.forEach(function (run) {
      run.times.forEach(function (time) {
        rows.push({ name: (runs.length > 1 ? run.name + ", " : "") + "rank " + time.rank, time: time });
      });
    });
    if (rows.length === 0) {
      box.append(node("p", "none", "No times were measured."));
      return box;
    }
    var longest = Math.max.apply(null, rows.map(function (row) {
      return PARTS.reduce(function (sum, part) { return sum + seconds(row.time, part[0]); }, 0);
    }));
    var legend = node("ul", "legend");
    PARTS.forEach(function (part) {
      var li = node("li", "", part[1]);
      li.prepend(swatch(part));
      legend.append(li);
    });
    box.append(legend);
    rows.slice(0, 256).forEach(function (row) {
      var line = node("div", "bar");
      line.append(node("span", "who", row.name));
      var bar = node("span", "parts");
      var all = 0;
      PARTS.forEach(function (part) {
        var took = seconds(row.time, part[0]);
        all += took;
        if (took <= 0) return;
        var piece = swatch(part);
        piece.style.width = 100 * took / longest + "%";
        piece.title = part[1] + ": " + took.toFixed(2) + " s";
        bar.append(piece);
      });
      line.append(bar, node("span", "sum", all.toFixed(1) + " s"));
      box.append(line);
    });
    var more = node("details");
    more.append(node("summary", "", "As a table"));
    more.append(table(["seconds"].concat(PARTS.map(function (part) { return part[1]; })), rows.map(function (row) {
      return { cells: [row.name].concat(PARTS.map(function (part) { return seconds(row.time, part[0]).toFixed(2); })) };
    })));
    box.append(more);
    return box;
  }

  function swatch(part) {
    var it = node("span", "swatch" + (part[0] === "hidden" ? " hatched" : ""));
    it.style.backgroundColor = part[2];
    return it;
  }

  function timeline(runs) {
    var box = node("div");
    runs.forEach(function (run) {
      if (runs.length > 1) box.append(node("h3", "", run.name));
      if (run.timeline.length === 0) {
        box.append(node("p", "none", "Nothing but updates so far."));
        return;
      }
      var last = run.timeline.reduce(function (most, it) { return Math.max(most, it.update); }, 1);
      run.series.forEach(function (it) { last = Math.max(last, it.x[it.x.length - 1] || 0); });
      Object.keys(KINDS).forEach(function (kind) {
        var moments = run.timeline.filter(function (it) { return it.kind === kind; });
        if (moments.length === 0) return;
        var row = node("div", "lane");
        row.append(node("span", "who", KINDS[kind][0] + " (" + moments.length + ")"));
        var lane = node("span", "track");
        moments.slice(0, 400).forEach(function (it) {
          var mark = node("span", "moment");
          mark.style.left = 100 * it.update / last + "%";
          mark.style.background = KINDS[kind][1];
          mark.title = "update " + it.update + ": " + it.text;
          lane.append(mark);
        });
        row.append(lane);
        box.append(row);
      });
      var more = node("details");
      more.append(node("summary", "", "As a list"));
      more.append(table(["update", "time", "what", ""], run.timeline.map(function (it) {
        return { cells: [it.update.toLocaleString("en"), it.time.replace("T", " ").replace(/\..*/, ""), KINDS[it.kind][0], { text: it.text, className: "wide" }] };
      })));
      box.append(more);
    });
    return box;
  }

  function planned(runs) {
    var rows = [];
    runs.forEach(function (run) {
      run.planned.forEach(function (it) {
        rows.push({ cells: [(runs.length > 1 ? run.name + ": " : "") + it[0], shown(it[1], it[3]), shown(it[2], it[3])] });
      });
    });
    return rows.length === 0 ? null : table(["", "predicted", "measured"], rows);
  }

  function settings(runs) {
    var keys = [];
    var maps = runs.map(function (run) {
      return new Map(run.settings.map(function (it) {
        if (keys.indexOf(it[0]) < 0) keys.push(it[0]);
        return it;
      }));
    });
    var rows = keys.map(function (key) {
      var values = maps.map(function (map) { return map.has(key) ? map.get(key) : "–"; });
      var differs = values.some(function (value) { return value !== values[0]; });
      return { className: differs ? "differs" : "same", cells: [key].concat(values) };
    });
    if (runs.length === 1) return list(runs[0].settings, "settings facts");
    var box = node("div");
    var one = table(["setting"].concat(runs.map(function (run) { return run.name; })), rows, "settings");
    var only = node("label", "switch", " only what differs");
    var check = node("input");
    check.type = "checkbox";
    check.checked = true;
    var apply = function () { one.classList.toggle("only", check.checked); };
    check.addEventListener("change", apply);
    apply();
    only.prepend(check);
    box.append(only, one);
    return box;
  }

  function pipeline(runs) {
    var phases = runs[0].pipeline.map(function (it) { return it[0]; });
    if (phases.length === 0) return null;
    return table(["phase"].concat(runs.length === 1 ? ["what happens"] : runs.map(function (run) { return run.name; })), phases.map(function (phase) {
      return { cells: [phase].concat(runs.map(function (run) {
        var found = run.pipeline.filter(function (it) { return it[0] === phase; })[0];
        return { text: found ? found[1] : "–", className: "wide" };
      })) };
    }));
  }

  var SECTIONS = [
    ["overview", "Overview", overview],
    ["time", "Where the time went", times],
    ["timeline", "Timeline", timeline],
    ["planned", "Predicted and measured", planned],
    ["pipeline", "Pipeline", pipeline],
    ["settings", "Configuration", settings]
  ];

  function fill(runs) {
    parts.title.textContent = runs.length === 1 ? runs[0].name : runs.length + " runs";
    document.title = parts.title.textContent + " – Flotilla";
    parts.badges.replaceChildren.apply(parts.badges, runs.length === 1 ? [badge(runs[0].status)] : []);
    SECTIONS.forEach(function (section) {
      var part = parts[section[0]];
      var made = runs.length === 0 ? null : section[2](runs);
      part.link.hidden = part.section.hidden = made === null;
      // What has not changed keeps its focus and what was opened in it.
      if (made !== null && made.innerHTML !== part.before) {
        part.before = made.innerHTML;
        var open = part.body.querySelector("details[open]") !== null;
        part.body.replaceChildren(made);
        if (open) made.querySelectorAll("details").forEach(function (it) { it.open = true; });
      }
    });
    parts.curves.update(runs);
  }

  function add(main, nav, id, title) {
    var section = node("section");
    section.id = id;
    var body = node("div");
    section.append(node("h2", "", title), body);
    main.append(section);
    var link = node("a", "", title);
    link.href = "#" + id;
    nav.append(link);
    return { section: section, body: body, link: link, before: null };
  }

  function render(root, runs) {
    parts = {};
    var header = node("header");
    parts.title = node("h1");
    parts.badges = node("span");
    var nav = node("nav");
    nav.setAttribute("aria-label", "Sections");
    var line = node("div", "line");
    line.append(parts.title, parts.badges);
    header.append(line, nav);
    var main = node("main");
    SECTIONS.forEach(function (section, i) {
      if (i === 1) {
        parts.charts = add(main, nav, "curves", "Curves");
        parts.charts.body.className = "charts";
      }
      parts[section[0]] = add(main, nav, section[0], section[1]);
    });
    root.replaceChildren(header, main);
    parts.curves = FlotillaCurves(parts.charts.body);
    fill(runs);
  }

  return { render: render, update: fill };
})();
