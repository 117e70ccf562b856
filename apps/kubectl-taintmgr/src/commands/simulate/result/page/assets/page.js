// The script of the report. It draws what the document beside it says and adds nothing to it: every
// number that is shown names its place in the document (data-path). Text from the cluster is only
// ever set as text.

import { chart, draw, showLegend, x } from './chart.js';
import {
  byId,
  cell,
  data,
  duration,
  element,
  end,
  indexAt,
  number,
  numberCell,
  run,
  state,
  table,
  workloadName,
} from './format.js';
import { showAbout, showEvictions, showLimits, showSummary } from './tables.js';

function showRuns() {
  const choices = data.runs.map(({ name }, index) => {
    const input = element('input', { type: 'radio', name: 'run', value: index });
    input.checked = index === state.run;
    input.addEventListener('change', () => {
      state.run = index;
      state.mark = -1;
      byId('detail').textContent = '';
      showRun();
    });
    return element('label', {}, input, ` ${name}`);
  });
  byId('runs').append(...choices);
  byId('runs').hidden = data.runs.length < 2;
}

// One moment.

function showMoment() {
  const { at } = state;
  byId('scrubber').value = at;
  byId('scrubber').setAttribute('aria-valuetext', duration(at));
  byId('clock').textContent = duration(at);
  byId('moment-clock').textContent = duration(at);
  chart.cursor?.setAttribute('x1', x(at));
  chart.cursor?.setAttribute('x2', x(at));
  const { workloads, nodes, zones, evictions, deadlines, unplaced } = run();
  const base = `runs.${state.run}`;
  const workloadRows = workloads.map((workload, index) => {
    const path = `${base}.workloads.${index}.states.${indexAt(workload.states, at)}`;
    return [
      cell(workloadName(workload)),
      numberCell(number(`${path}.ready`), ' of ', number(`${path}.wanted`)),
    ];
  });
  const zoneRows = zones.flatMap((zone, index) => {
    const step = indexAt(zone.states, at);
    if (step < 0) return [];
    const path = `${base}.zones.${index}.states.${step}`;
    const { state: name, held } = zone.states[step];
    const text = held === null ? name : `${name}: ${held}`;
    return [
      [
        cell(zone.name || 'no zone'),
        cell(text),
        numberCell(number(`${path}.ready`)),
        numberCell(number(`${path}.notReady`)),
      ],
    ];
  });
  const counts = { True: 0, False: 0, Unknown: 0, Gone: 0 };
  for (const { states } of nodes) {
    const step = states[indexAt(states, at)];
    if (step) counts[step.ready]++;
  }
  const open = deadlines.filter((one) => one.setAt <= at && (one.endedAt ?? end + 1) > at);
  const waiting = unplaced.filter((one) => one.from <= at && (one.until ?? end + 1) > at);
  const evicted = evictions.filter((one) => one.at <= at).length;
  const count = (name, value) => [
    cell(name),
    element('td', { class: 'number', 'data-count': name }, String(value)),
  ];
  const countRows = [
    count('evicted so far', evicted),
    count('deadlines running', open.length),
    count('fit nowhere', waiting.length),
    count('nodes ready', counts.True),
    count('nodes not ready', counts.False),
    count('nodes unknown', counts.Unknown),
  ];
  byId('moment').replaceChildren(
    table('Counts', ['', ''], countRows),
    table('Zones', ['zone', 'state', 'ready', 'not'], zoneRows),
    element('div', { class: 'scroll' }, table('Workloads', ['workload', 'ready'], workloadRows)),
  );
}

function goTo(at) {
  state.at = Math.min(end, Math.max(0, at));
  showMoment();
}

// Marks.

function markText({ at, lastAt, texts }) {
  const shown = texts.length > 8 ? [...texts.slice(0, 8), `and ${texts.length - 8} more`] : texts;
  const when = lastAt === at ? duration(at) : `${duration(at)} – ${duration(lastAt)}`;
  return `${when}: ${shown.join('\n')}`;
}

function choose(index) {
  const chosen = chart.marks[Math.min(chart.marks.length - 1, Math.max(0, index))];
  if (!chosen) return;
  state.mark = chart.marks.indexOf(chosen);
  byId('detail').textContent = markText(chosen);
  byId('chart').setAttribute('aria-valuenow', String(state.mark + 1));
  byId('chart').setAttribute('aria-valuetext', markText(chosen));
  chart.ring.setAttribute('cx', x(chosen.at));
  chart.ring.setAttribute('cy', chosen.y);
  chart.ring.setAttribute('visibility', 'visible');
  goTo(Math.ceil(chosen.at));
}

/** The mark after (1) or before (-1) the chosen one, or the time where none is chosen. */
function step(direction) {
  if (state.mark >= 0) return choose(state.mark + direction);
  const later = chart.marks.findIndex(({ at }) => at >= state.at);
  const first = later < 0 ? chart.marks.length : later;
  return choose(direction > 0 ? first : first - 1);
}

const keys = {
  ArrowRight: () => step(1),
  ArrowDown: () => step(1),
  ArrowLeft: () => step(-1),
  ArrowUp: () => step(-1),
  Home: () => choose(0),
  End: () => choose(chart.marks.length - 1),
};

function markOf(event) {
  const index = event.target.closest?.('[data-mark]')?.getAttribute('data-mark');
  return index === null || index === undefined ? -1 : Number(index);
}

function listen() {
  byId('scrubber').max = end;
  byId('scrubber').addEventListener('input', (event) => {
    state.mark = -1;
    chart.ring.setAttribute('visibility', 'hidden');
    goTo(Number(event.target.value));
  });
  byId('next').addEventListener('click', () => step(1));
  byId('previous').addEventListener('click', () => step(-1));
  const place = byId('chart');
  place.addEventListener('keydown', (event) => {
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  place.addEventListener('click', (event) => {
    const index = markOf(event);
    if (index >= 0) choose(index);
  });
  const tooltip = byId('tooltip');
  place.addEventListener('mousemove', (event) => {
    const index = markOf(event);
    tooltip.hidden = index < 0;
    if (index < 0) return;
    tooltip.textContent = markText(chart.marks[index]);
    const isRight = event.clientX > window.innerWidth / 2;
    tooltip.style.left = isRight ? '' : `${event.clientX + 14}px`;
    tooltip.style.right = isRight ? `${window.innerWidth - event.clientX + 14}px` : '';
    tooltip.style.top = `${event.clientY + 14}px`;
  });
  place.addEventListener('mouseleave', () => {
    tooltip.hidden = true;
  });
  byId('more').addEventListener('click', () => {
    state.lanesShown *= 4;
    redraw();
  });
  let width = window.innerWidth;
  window.addEventListener('resize', () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    redraw();
  });
}

function redraw() {
  const chosen = state.mark;
  draw();
  if (chosen >= 0) choose(chosen);
  else showMoment();
}

function showRun() {
  showSummary();
  showEvictions();
  redraw();
}

showAbout();
showRuns();
showLimits();
showLegend();
listen();
showRun();
