// The chart: zones, workloads and nodes over time.

import { byId, duration, element, end, run, shape, state, workloadName } from './format.js';

const labelWidth = 210;
// Room for half of the longest time on the axis.
const rightMargin = 26;
const laneHeight = 20;
/** Marks of one kind that are nearer to each other are one. */
const markDistance = 13;
/** Refusals stand below evictions, so that neither hides the other. */
const refusalsBelow = 22;

export let chart = { marks: [], width: 0, cursor: null, ring: null };

export const x = (at) => labelWidth + (at / end) * (chart.width - labelWidth - rightMargin);

export function draw() {
  const { zones, workloads, nodes } = run();
  const width = Math.max(640, byId('chart').clientWidth || 960);
  chart = { marks: [], width, cursor: null, ring: null };
  const svg = shape('svg', { role: 'presentation' });
  svg.append(patterns());
  const body = shape('g');
  let y = axis(body);
  y = heading(body, y, 'What happens');
  y = scriptLane(body, y);
  y = heading(body, y, 'Zones');
  for (const zone of zones) y = zoneLane(body, y, zone);
  y = heading(body, y, 'Workloads: pods that are missing');
  for (const workload of workloads) y = workloadLane(body, y, workload);
  const touched = touchedNodes(nodes);
  const shown = touched.slice(0, state.lanesShown);
  const calm = nodes.length - touched.length;
  y = heading(body, y, `Nodes${calm > 0 ? ` (${calm} more to which nothing happened)` : ''}`);
  for (const lane of shown) y = nodeLane(body, y, lane);
  chart.cursor = shape('line', { class: 'cursor', y1: 0, y2: y });
  chart.ring = shape('circle', { class: 'chosen', r: 9, visibility: 'hidden' });
  svg.append(body, chart.cursor, chart.ring);
  svg.setAttribute('viewBox', `0 0 ${width} ${y + 6}`);
  byId('chart').replaceChildren(svg);
  const more = byId('more');
  more.hidden = shown.length === touched.length;
  more.textContent = `Show ${touched.length - shown.length} more nodes`;
  byId('chart').setAttribute('aria-valuemax', String(chart.marks.length));
  chart.marks.sort((one, other) => one.at - other.at || one.y - other.y);
  for (const [index, mark] of chart.marks.entries()) mark.node.setAttribute('data-mark', index);
}

const patternKinds = {
  'not-ready': 'M-2,2 l4,-4 M0,8 l8,-8 M6,10 l4,-4',
  unknown: 'M-2,6 l4,4 M0,0 l8,8 M6,-2 l4,4',
  gone: 'M0,4 h8 M4,0 v8',
};

/** Fills that differ in more than their colour. */
function patterns() {
  const kinds = Object.entries(patternKinds).map(([name, path]) => {
    const attributes = { id: `${name}-pattern`, width: 8, height: 8 };
    return shape(
      'pattern',
      { ...attributes, patternUnits: 'userSpaceOnUse' },
      shape('rect', { class: `pattern-${name}`, width: 8, height: 8 }),
      shape('path', { class: 'pattern-line', d: path }),
    );
  });
  return shape('defs', {}, ...kinds);
}

function axis(body) {
  const steps = [10, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200, 86_400];
  const step = steps.find((one) => end / one <= 12) ?? 86_400;
  for (let at = 0; at <= end; at += step) {
    const place = x(at);
    body.append(
      shape('line', { class: 'grid', x1: place, x2: place, y1: 18, y2: '100%' }),
      shape('text', { class: 'faint', x: place, y: 13, 'text-anchor': 'middle' }, duration(at)),
    );
  }
  return 22;
}

function heading(body, y, text) {
  body.append(shape('text', { class: 'heading', x: 0, y: y + 17 }, text));
  return y + 24;
}

function label(body, y, text) {
  const shown = text.length > 30 ? `${text.slice(0, 29)}…` : text;
  const title = shape('title', {}, text);
  body.append(shape('text', { x: 0, y: y + 14 }, shown, title));
}

/** Puts a mark into the chart, or adds its words to one that would be under it. */
function mark(body, kind, at, y, text) {
  const near = chart.marks.find((one) => {
    return one.kind === kind && one.y === y && Math.abs(x(one.at) - x(at)) < markDistance;
  });
  if (near) {
    near.texts.push(text);
    near.lastAt = at;
    return;
  }
  const node = markShape(kind, x(at), y);
  body.append(node);
  chart.marks.push({ kind, at, lastAt: at, y, texts: [text], node });
}

export function markShape(kind, place, y) {
  const paths = {
    script: `M${place - 6},${y - 6} h12 l-6,11 z`,
    eviction: `M${place},${y - 6} l6,6 l-6,6 l-6,-6 z`,
    refusal: `M${place - 4},${y - 4} l8,8 m0,-8 l-8,8`,
  };
  return shape('path', { class: `mark ${kind}`, d: paths[kind] });
}

function scriptLane(body, y) {
  label(body, y, 'script');
  for (const { at, text, line } of run().events) {
    mark(body, 'script', at, y + 10, `${text} (line ${line} of the script)`);
  }
  return y + laneHeight + 4;
}

/** Steps as a band of the states they are in. */
function band(body, y, steps, classOf, textOf, height = laneHeight - 6) {
  for (const [index, step] of steps.entries()) {
    const until = steps[index + 1]?.at ?? end;
    const attributes = { x: x(step.at), y: y + 3, height };
    const part = shape('rect', {
      class: `lane ${classOf(step)}`,
      ...attributes,
      width: Math.max(0.5, x(until) - x(step.at)),
    });
    part.append(shape('title', {}, `${textOf(step)}\n${duration(step.at)} – ${duration(until)}`));
    body.append(part);
  }
}

const zoneClasses = {
  Initial: 'gone',
  Normal: 'ready',
  PartialDisruption: 'not-ready',
  FullDisruption: 'unknown',
  Unknown: 'gone',
};

function zoneText({ state: name, ready, notReady, rate, held }) {
  const why = held === null ? `eviction rate ${rate} nodes/s` : held;
  return `${name}: ${ready} ready, ${notReady} not; ${why}`;
}

function zoneLane(body, y, zone) {
  label(body, y, zone.name || 'no zone');
  band(body, y, zone.states, (step) => zoneClasses[step.state], zoneText);
  return y + laneHeight;
}

function workloadLane(body, y, workload) {
  const height = 26;
  label(body, y + 4, workloadName(workload));
  const most = Math.max(1, ...workload.states.map(({ wanted }) => wanted));
  for (const [index, { at, wanted, ready }] of workload.states.entries()) {
    const missing = Math.max(0, wanted - ready);
    const until = workload.states[index + 1]?.at ?? end;
    const size = (missing / most) * height;
    if (missing === 0) continue;
    const part = shape('rect', {
      class: 'missing',
      x: x(at),
      y: y + height - size,
      width: Math.max(0.5, x(until) - x(at)),
      height: size,
    });
    const text = `${missing} of ${wanted} missing`;
    part.append(shape('title', {}, `${text}\n${duration(at)} – ${duration(until)}`));
    body.append(part);
  }
  const [x1, x2] = [x(0), x(end)];
  body.append(shape('line', { class: 'grid', x1, x2, y1: y + height, y2: y + height }));
  return y + height + 6;
}

/** Nodes to which something happened, each with what did. */
function touchedNodes(nodes) {
  const { evictions, deadlines, refusals } = run();
  const of = (tracks) => {
    const groups = new Map();
    for (const track of tracks) {
      if (!groups.has(track.node)) groups.set(track.node, []);
      groups.get(track.node).push(track);
    }
    return groups;
  };
  const groups = [of(evictions), of(deadlines), of(refusals)];
  const lanes = nodes.map((node) => {
    const [gone, due, refused] = groups.map((group) => group.get(node.name) ?? []);
    return { node, gone, due, refused };
  });
  return lanes.filter(({ node, gone, due, refused }) => {
    return node.states.length > 1 || gone.length + due.length + refused.length > 0;
  });
}

const nodeClasses = { True: 'ready', False: 'not-ready', Unknown: 'unknown', Gone: 'gone' };

function nodeText({ ready, cordoned, taints }) {
  const name = ready === 'Gone' ? 'gone' : `Ready=${ready}`;
  return [name, ...(cordoned ? ['cordoned'] : []), ...taints].join('\n');
}

function nodeLane(body, y, { node, gone, due, refused }) {
  label(body, y, node.zone ? `${node.name} (${node.zone})` : node.name);
  band(body, y, node.states, (step) => nodeClasses[step.ready], nodeText);
  for (const [index, step] of node.states.entries()) {
    const until = node.states[index + 1]?.at ?? end;
    const isTainted = step.taints.some((taint) => taint.endsWith(':NoExecute'));
    if (!isTainted) continue;
    const width = Math.max(0.5, x(until) - x(step.at));
    const place = { x: x(step.at), y: y + 3, width, height: 3 };
    body.append(shape('rect', { class: 'tainted', ...place }));
  }
  const height = refused.length > 0 ? refusalsBelow + 8 : laneHeight;
  const bars = deadlineBars(body, y + height, due);
  for (const { at, namespace, pod, how, because } of gone) {
    mark(body, 'eviction', at, y + 9, `${namespace}/${pod}: ${how}, ${because.join('; ')}`);
  }
  for (const { firstAt, lastAt, count, namespace, pod, budget, message } of refused) {
    const times = count > 1 ? `${count} times until ${duration(lastAt)}, ` : '';
    const text = `${namespace}/${pod}: refused ${times}by budget ${budget}: ${message}`;
    mark(body, 'refusal', firstAt, y + refusalsBelow, text);
  }
  return y + height + bars + 3;
}

/** Bars of deadlines, equal ones as one; the height they take. */
function deadlineBars(body, y, due) {
  const groups = new Map();
  for (const track of due) {
    const until = Math.min(end, track.endedAt ?? track.dueAt);
    if (until <= track.setAt) continue;
    const key = `${track.setAt} ${until} ${track.end} ${track.because.join()}`;
    const group = groups.get(key) ?? { ...track, until, pods: [] };
    group.pods.push(`${track.namespace}/${track.pod}`);
    groups.set(key, group);
  }
  const bars = [...groups.values()].slice(0, 6);
  for (const [index, bar] of bars.entries()) {
    const place = { x1: x(bar.setAt), x2: x(bar.until), y1: y + index * 5, y2: y + index * 5 };
    const line = shape('line', { class: `deadline ${bar.end}`, ...place });
    const pods = bar.pods.length > 8 ? [...bar.pods.slice(0, 8), '…'] : bar.pods;
    const title =
      `deadline ${duration(bar.dueAt)}, set at ${duration(bar.setAt)}: ${bar.end}\n` +
      `${bar.because.join('; ')}\n${pods.join('\n')}`;
    line.append(shape('title', {}, title));
    body.append(line);
  }
  return bars.length * 5;
}

export function showLegend() {
  const box = (name) => shape('rect', { class: name, width: 28, height: 14 });
  const line = (name) => {
    return shape('line', { class: `deadline ${name}`, x1: 0, x2: 28, y1: 7, y2: 7 });
  };
  const entries = [
    [box('ready'), 'ready, zone Normal'],
    [box('not-ready'), 'not ready, zone PartialDisruption'],
    [box('unknown'), 'unknown, zone FullDisruption'],
    [box('gone'), 'gone'],
    [shape('rect', { class: 'tainted', y: 4, width: 28, height: 4 }), 'NoExecute taint'],
    [box('missing'), 'pods missing'],
    [line('evicted'), 'deadline that came'],
    [line('moved'), 'moved, or still running'],
    [line('cancelled'), 'cancelled'],
    [markShape('script', 14, 7), 'script'],
    [markShape('eviction', 14, 7), 'evictions'],
    [markShape('refusal', 14, 7), 'refused by a budget'],
  ];
  const items = entries.map(([picture, text]) => {
    const attributes = { viewBox: '0 0 28 14', 'aria-hidden': 'true' };
    return element('span', {}, shape('svg', attributes, picture), text);
  });
  byId('legend').replaceChildren(...items);
}
