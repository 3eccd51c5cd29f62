'use strict';
// The board: a list of runs and a view of those chosen, brought up to date by server-sent events.
(() => {
  const MOST = 8;
  const SIGNS = {running: '▶', finished: '✔', failed: '✖', stale: '⏸', unreadable: '⚠', unread: '…'};
  const byId = id => document.getElementById(id);
  let isDrawn = false;
  forgetToken();
  let runs = [];
  let chosen = fromAddress();
  let pages = new Map();
  let events = null;

  function el(tag, className, ...inside) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    node.append(...inside.map(it => it instanceof Node ? it : String(it)));
    return node;
  }

  function duration(ms) {
    const s = Math.max(0, Math.round(ms / 1000));
    if (s < 60) return s + ' s';
    return s < 3600 ? Math.floor(s / 60) + ' min' : Math.floor(s / 3600) + ' h ' + Math.floor(s % 3600 / 60) + ' min';
  }

  const short = value => typeof value === 'number' ? String(+value.toPrecision(3)) : value;

  /** A link that was opened by a browser that has a cookie already: its token stays good, and out of sight. */
  function forgetToken() {
    if (location.hash.startsWith('#t=')) history.replaceState(null, '', '/');
  }

  function fromAddress() {
    const ids = new URLSearchParams(location.hash.slice(1)).get('runs') || '';
    return ids.split('.').filter(it => /^[0-9a-f]{16}$/.test(it)).slice(0, MOST);
  }

  function choose(ids) {
    chosen = ids.slice(-MOST);
    pages = new Map([...pages].filter(([id]) => chosen.includes(id)));
    history.replaceState(null, '', chosen.length ? '#runs=' + chosen.join('.') : '/');
    showList();
    showRuns();
    connect();
  }

  function connect() {
    if (events) events.close();
    events = null;
    if (document.hidden) return;
    events = new EventSource('/api/events' + (chosen.length ? '?runs=' + chosen.join('.') : ''));
    events.onopen = () => say('live', 'live');
    events.onerror = () => {
      const isOver = events && events.readyState === EventSource.CLOSED;
      say('lost', isOver ? 'signed out: open the newest link of the terminal' : 'no answer, trying again');
      if (isOver) setTimeout(connect, 5000);
    };
    events.addEventListener('runs', event => takeList(JSON.parse(event.data)));
    events.addEventListener('run', event => takeRun(JSON.parse(event.data)));
  }

  function say(state, text) {
    byId('link').className = state;
    byId('link').textContent = text;
  }

  function takeList(message) {
    runs = message.runs;
    const running = runs.filter(it => it.state === 'running').length;
    byId('count').textContent = runs.length + (runs.length === 1 ? ' run' : ' runs') + ', ' + running + ' running';
    showList();
    const first = runs.find(it => it.state === 'running') || (runs.some(it => it.state === 'unread') ? null : runs[0]);
    if (!chosen.length && first) choose([first.id]);
    else showRuns();
  }

  function takeRun(message) {
    pages.set(message.id, message);
    showRuns();
  }

  function isMeant(run) {
    const words = byId('filter').value.toLowerCase().split(/\s+/).filter(it => it);
    const text = [run.name, run.state, run.model].join(' ').toLowerCase();
    return words.every(it => text.includes(it));
  }

  function state(word) {
    return el('span', 'state ' + word, (SIGNS[word] || '') + ' ' + word);
  }

  function numbers(run) {
    const parts = [];
    const isOver = run.state === 'finished';
    if (run.total && !isOver) parts.push(Math.floor(100 * run.update / run.total) + '\u00a0%');
    else if (run.update && !isOver) parts.push(run.update.toLocaleString('en') + '\u00a0updates');
    if (run.loss != null) parts.push('loss\u00a0' + short(run.loss));
    if (run.accuracy != null) parts.push('acc\u00a0' + (100 * run.accuracy).toFixed(1));
    return parts.join(' · ');
  }

  function item(run) {
    const link = el('a', '', el('span', 'name', run.name), state(run.state), ' ', el('span', 'numbers', numbers(run)));
    link.href = '#runs=' + run.id;
    link.addEventListener('click', event => { event.preventDefault(); choose([run.id]); });
    if (run.state === 'running' && run.total) {
      const bar = el('progress');
      bar.max = run.total;
      bar.value = run.update;
      bar.setAttribute('aria-label', 'updates made');
      link.append(bar);
    }
    const box = el('input');
    box.type = 'checkbox';
    box.checked = chosen.includes(run.id);
    box.addEventListener('change', () => choose(box.checked ? [...chosen, run.id] : chosen.filter(it => it !== run.id)));
    box.title = 'compare with the others that are ticked';
    box.setAttribute('aria-label', 'compare ' + run.name);
    const node = el('li', chosen.includes(run.id) ? 'chosen' : '', link, box);
    if (chosen.includes(run.id)) link.setAttribute('aria-current', 'true');
    node.dataset.id = run.id;
    return node;
  }

  function showList() {
    const list = byId('runs');
    const focus = document.activeElement && list.contains(document.activeElement) ? document.activeElement : null;
    const place = focus && {id: focus.closest('li').dataset.id, tag: focus.tagName};
    const scrolled = list.scrollTop;
    const meant = runs.filter(isMeant);
    list.replaceChildren(...meant.map(item));
    if (!meant.length) list.append(el('li', 'none', runs.length ? 'no run fits the filter' : 'no runs here yet: start one, it will appear'));
    list.scrollTop = scrolled;
    if (place) list.querySelector('[data-id="' + place.id + '"] ' + (place.tag === 'A' ? 'a' : 'input'))?.focus();
  }

  function note(line) {
    const ago = line.last ? 'its last event was ' + duration(Date.now() - line.last) + ' ago' : '';
    const texts = {
      failed: 'This run has not ended well, and no process holds its folder any more; ' + ago + '. Its logs tell why; --resume auto goes on from its last checkpoint.',
      stale: 'A process may still hold this run’s folder, but it writes nothing; ' + ago + '.',
      unreadable: line.problem,
    };
    return texts[line.state] ? el('p', 'note', (chosen.length > 1 ? line.name + ': ' : '') + texts[line.state]) : null;
  }

  function showRuns() {
    const lines = chosen.map(id => runs.find(it => it.id === id) || (pages.get(id) || {}).line).filter(it => it);
    const notes = lines.map(note).filter(it => it);
    if (chosen.some(id => pages.has(id) && pages.get(id).gone)) notes.push(el('p', 'note', 'The folder of a run that was shown here is gone.'));
    byId('note').replaceChildren(...notes);
    const data = chosen.map(id => pages.get(id)).filter(it => it && it.run).map(it => ({...it.run, name: it.line.name}));
    if (isDrawn) Flotilla.update(data);
    else if (data.length) {
      Flotilla.render(byId('page'), data);
      isDrawn = true;
    }
    const running = runs.filter(it => it.state === 'running').length;
    document.title = (running ? '▶ ' + running + ' · ' : '') + 'Flotilla board';
    document.body.dataset.drawn = data.length;
  }

  function step(by) {
    const meant = runs.filter(isMeant);
    const at = meant.findIndex(it => it.id === chosen[chosen.length - 1]);
    const next = meant[Math.min(meant.length - 1, Math.max(0, at + by))];
    if (next) choose([next.id]);
  }

  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.id === 'filter') {
      if (event.key === 'Escape') { event.target.value = ''; showList(); event.target.blur(); }
      return;
    }
    if (event.key === 'j') step(1);
    else if (event.key === 'k') step(-1);
    else if (event.key === 'c') document.querySelector('#runs li:focus-within input')?.click();
    else if (event.key === '/') { byId('filter').focus(); event.preventDefault(); }
  });
  // Which runs are shown stands behind the '#', so links within the page must not change it.
  document.addEventListener('click', event => {
    const link = event.target.closest('#page nav a, #skip');
    if (!link) return;
    event.preventDefault();
    const to = document.querySelector(link.getAttribute('href'));
    to.scrollIntoView();
    if (link.id === 'skip') to.focus();
  });
  byId('filter').addEventListener('input', showList);
  // A page that nobody sees takes none of the few connections that a browser allows to one address.
  document.addEventListener('visibilitychange', connect);
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#runs=')) choose(fromAddress());
    else forgetToken();
  });
  connect();
})();
