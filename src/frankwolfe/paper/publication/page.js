(function () {
  "use strict";
  var figures = JSON.parse(document.getElementById("figures").textContent);

  function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }

  function band(curve, x) {
    return {
      x: x.concat(x.slice().reverse()), y: curve.high.concat(curve.low.slice().reverse()), type: "scatter", mode: "lines",
      line: { width: 0 }, fill: "toself", fillcolor: curve.colour + "2e", hoverinfo: "skip", showlegend: false,
      legendgroup: curve.name, visible: curve.shown ? true : "legendonly", meta: { band: true }
    };
  }

  // A map: log10 of the ratios, white at one.
  function heat(panel) {
    var map = panel.heat;
    var z = map.z.map(function (row) { return row.map(function (v) { return v === null ? null : Math.log10(v); }); });
    return [{
      x: map.x, y: map.rows, z: z, customdata: map.z, type: "heatmap",
      colorscale: [[0, "#b2182b"], [0.25, "#ef8a62"], [0.5, "#f7f7f7"], [0.75, "#67a9cf"], [1, "#2166ac"]],
      zmin: -2, zmax: 2, hoverongaps: false,
      hovertemplate: "R = %{y}, k = %{x}: %{customdata:.3~g}<extra></extra>",
      colorbar: { thickness: 10, tickvals: [-2, -1, 0, 1, 2], ticktext: ["1/100", "1/10", "1", "10", "100"] }
    }];
  }

  function traces(panel, axis) {
    if (panel.heat) { return heat(panel); }
    var out = [];
    panel.curves.forEach(function (curve) {
      var x = curve.x[axis];
      if (!x) { return; }
      if (curve.low) { out.push(band(curve, x)); }
      out.push({
        x: x, y: curve.y, name: curve.name, type: "scatter", mode: curve.mode, legendgroup: curve.name,
        visible: curve.shown ? true : "legendonly",
        line: { color: curve.colour, width: curve.width, dash: curve.dash }, marker: { color: curve.colour, size: 6 },
        hovertemplate: "%{x:.4~g}, %{y:.3~g}<extra>" + curve.name + "</extra>"
      });
    });
    return out;
  }

  function layout(panel, data, words, width) {
    var ink = css("--ink"), line = css("--line"), log = panel.log, title = { text: words, standoff: 6 };
    var base = {
      margin: { l: 58, r: 12, t: 30, b: 44 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: ink, size: 12, family: "inherit" }, hovermode: "closest", hoverlabel: { font: { family: "inherit" } },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--faint"), activecolor: css("--accent") }
    };
    if (panel.heat) {
      return Object.assign(base, {
        height: 300, xaxis: { title: title, type: "log", dtick: 1, automargin: true },
        yaxis: { title: { text: panel.ylabel, standoff: 4 }, type: "category", automargin: true }
      });
    }
    var limits = range(panel, hiddenIn(data)), span = limits ? limits[1] - limits[0] : 0;
    var grid = { gridcolor: line, zeroline: false, linecolor: line, automargin: true, exponentformat: "power" };
    var shapes = panel.floor > 0 && log[1] ? [{
      type: "rect", xref: "paper", x0: 0, x1: 1, yref: "y", y0: panel.floor * 1e-12, y1: panel.floor, line: { width: 0 },
      fillcolor: css("--faint"), opacity: 0.35, layer: "below"
    }] : [];
    return Object.assign(base, {
      height: 330 + 22 * Math.ceil(panel.curves.length / (width > 420 ? 2 : 1)), shapes: shapes,
      legend: { orientation: "h", y: -0.24, x: 0, font: { size: 11 } },
      xaxis: Object.assign({ title: title, type: log[0] ? "log" : "linear" }, grid, ticks(data, log[0])),
      yaxis: Object.assign({ title: { text: panel.ylabel, standoff: 4 }, type: log[1] ? "log" : "linear",
        range: limits, autorange: !limits,
        dtick: limits ? (span > 1.2 ? Math.ceil(span / 7) : "D2") : undefined }, grid)
    });
  }

  // Fit the axis to the curves that are shown; a floor of f* far below them must not squeeze them.
  function range(panel, hidden) {
    if (!panel.log[1]) { return null; }
    var low = Infinity, high = -Infinity;
    panel.curves.forEach(function (curve) {
      if (hidden[curve.name]) { return; }
      curve.y.forEach(function (value) {
        if (value > 0) { low = Math.min(low, value); high = Math.max(high, value); }
      });
    });
    if (!(high > 0)) { return null; }
    if (panel.floor > 0) { low = Math.max(low, Math.min(panel.floor / 3, high / 10)); }
    var pad = 0.04 * (Math.log10(high) - Math.log10(low)) + 0.05;
    return [Math.log10(low) - pad, Math.log10(high) + pad];
  }

  function hiddenIn(data) {
    var hidden = {};
    data.forEach(function (trace) { if (trace.visible === "legendonly") { hidden[trace.legendgroup] = true; } });
    return hidden;
  }

  function ticks(data, log) {
    var low = Infinity, high = 0;
    data.forEach(function (trace) {
      trace.x.forEach(function (value) { if (value > 0) { low = Math.min(low, value); high = Math.max(high, value); } });
    });
    return log ? { dtick: high > 30 * low ? 1 : "D2" } : {};
  }

  function visibilityOf(plot) {
    var seen = {};
    (plot.data || []).forEach(function (trace) { if (trace.name) { seen[trace.name] = trace.visible; } });
    return seen;
  }

  function draw(figure, axis) {
    figure.panels.forEach(function (panel, i) {
      var plot = document.getElementById(figure.key + "-panel-" + i);
      if (panel.heat) { plot.style.minHeight = "300px"; }
      var kept = visibilityOf(plot);
      var data = traces(panel, axis);
      data.forEach(function (trace) { if (trace.legendgroup in kept) { trace.visible = kept[trace.legendgroup]; } });
      var words = panel.xlabel || figure.axes[axis];
      Plotly.react(plot, data, layout(panel, data, words, plot.clientWidth), {
        responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"], showSendToCloud: false
      });
      if (!plot.dataset.linked) { plot.dataset.linked = "yes"; link(figure, plot); }
    });
  }

  // A click on a legend entry acts on all panels of the figure.
  function link(figure, plot) {
    plot.on("plotly_legendclick", function (event) {
      var trace = event.data[event.curveNumber];
      var next = trace.visible === "legendonly" ? true : "legendonly";
      figure.panels.forEach(function (panel, i) {
        var other = document.getElementById(figure.key + "-panel-" + i), hits = [];
        if (!other.data) { return; }
        other.data.forEach(function (t, j) { if (t.legendgroup === trace.legendgroup) { hits.push(j); } });
        if (!hits.length) { return; }
        Plotly.restyle(other, { visible: next }, hits);
        var limits = range(panel, hiddenIn(other.data));
        if (limits) { Plotly.relayout(other, { "yaxis.range": limits }); }
      });
      return false;
    });
  }

  figures.forEach(function (figure) {
    var axes = Object.keys(figure.axes), box = document.getElementById(figure.key + "-axes");
    var current = axes[0], drawn = false;
    if (box) {
      axes.forEach(function (axis) {
        var button = document.createElement("button");
        button.type = "button";
        button.textContent = figure.axes[axis];
        button.dataset.axis = axis;
        button.setAttribute("aria-pressed", axis === current ? "true" : "false");
        button.addEventListener("click", function () {
          current = axis;
          box.querySelectorAll("button").forEach(function (b) {
            b.setAttribute("aria-pressed", b === button ? "true" : "false");
          });
          drawn = true;
          draw(figure, current);
        });
        box.appendChild(button);
      });
    }
    function first() { if (!drawn) { drawn = true; draw(figure, current); } }
    // Draw a figure when it comes near the screen: the page opens at once, on a phone too.
    if ("IntersectionObserver" in window) {
      var watch = new IntersectionObserver(function (entries) {
        if (entries.some(function (e) { return e.isIntersecting; })) { watch.disconnect(); first(); }
      }, { rootMargin: "600px" });
      watch.observe(document.getElementById(figure.key));
    } else { first(); }
    if (window.matchMedia) {
      window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", function () {
        if (drawn) { draw(figure, current); }
      });
    }
    window.addEventListener("beforeprint", first);
  });
})();
