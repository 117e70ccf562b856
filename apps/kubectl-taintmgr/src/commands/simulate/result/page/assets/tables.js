// What does not change with time.

import {
  byId,
  cell,
  data,
  duration,
  element,
  end,
  number,
  numberCell,
  run,
  state,
  table,
  workloadName,
} from './format.js';

const tableRowsMax = 500;

export function showAbout() {
  const script = data.script === undefined ? 'without events' : `with ${data.script}`;
  byId('about').textContent =
    `${duration(end)} of ${data.source} ${script}, seed ${data.seed}. ` +
    `Times count from ${data.startsAt}.`;
  document.title = `${data.source}: simulation`;
  const partial = byId('partial');
  partial.hidden = data.complete;
  partial.textContent = `This is only a part of the cluster. Not taken:\n${data.missing.join('\n')}`;
  byId('notes').replaceChildren(...data.notes.map((text) => element('li', {}, text)));
}

function card(title, ...children) {
  return element(
    'div',
    { class: 'card' },
    element('dt', {}, title),
    element('dd', {}, ...children),
  );
}

export function showSummary() {
  const base = `runs.${state.run}.summary`;
  const { summary } = run();
  const cards = element(
    'dl',
    { class: 'cards' },
    card('evictions', number(`${base}.evictions`)),
    card('refused by PDBs', number(`${base}.refusals`)),
    card('failed', number(`${base}.failures`)),
    card('nodes tainted', number(`${base}.nodesTainted`)),
    card('fit nowhere, at once', number(`${base}.unplaced.atOnceMax`)),
    card('fit nowhere, at the end', number(`${base}.unplaced.atEnd`)),
  );
  const others = data.runs.map((_, index) => index).filter((index) => index !== state.run);
  const heads = ['workload', 'wanted', 'most unavailable', 'share', 'at', 'for', 'evictions'];
  const beside = others.flatMap((index) => {
    const { name } = data.runs[index];
    return [`most unavailable, ${name}`, `evictions, ${name}`];
  });
  const rows = summary.workloads.map((workload, index) => {
    const path = `${base}.workloads.${index}`;
    return [
      cell(workloadName(workload)),
      numberCell(number(`${path}.wanted`)),
      numberCell(number(`${path}.unavailableMax`)),
      numberCell(number(`${path}.unavailablePercentMax`), ' %'),
      numberCell(number(`${path}.worstAt`, 'duration')),
      numberCell(number(`${path}.unavailableSeconds`, 'duration')),
      numberCell(number(`${path}.evictions`)),
      ...others.flatMap((other) => besideCells(other, workload)),
    ];
  });
  const budgets = summary.budgets.map(({ namespace, name }, index) => {
    const path = `${base}.budgets.${index}`;
    return [
      cell(`${namespace}/${name}`),
      numberCell(number(`${path}.refusals`)),
      numberCell(number(`${path}.belowMax`)),
      numberCell(number(`${path}.belowSeconds`, 'duration')),
    ];
  });
  const loops = summary.loops.map(({ namespace, name, node, because }, index) => {
    const path = `${base}.loops.${index}`;
    return [
      cell(name.includes('/') ? name : `${namespace}/${name}`),
      cell(node),
      numberCell(number(`${path}.evictions`)),
      numberCell(number(`${path}.firstAt`, 'duration')),
      numberCell(number(`${path}.lastAt`, 'duration')),
      cell(because.join('; ')),
    ];
  });
  byId('summary').replaceChildren(
    cards,
    element('div', { class: 'scroll' }, table('Workloads', [...heads, ...beside], rows)),
    ...(budgets.length === 0
      ? []
      : [table('PodDisruptionBudgets', ['PDB', 'refused', 'below by', 'below for'], budgets)]),
    ...(loops.length === 0
      ? []
      : [
          table(
            'Loops: evicted again and again from the same node',
            ['pod or workload', 'node', 'evictions', 'from', 'to', 'because'],
            loops,
          ),
        ]),
  );
}

function besideCells(other, workload) {
  const { workloads } = data.runs[other].summary;
  const index = workloads.findIndex((one) => workloadName(one) === workloadName(workload));
  if (index < 0) return [numberCell('–'), numberCell('–')];
  const path = `runs.${other}.summary.workloads.${index}`;
  return [numberCell(number(`${path}.unavailableMax`)), numberCell(number(`${path}.evictions`))];
}

export function showLimits() {
  if (data.limits.length === 0) return;
  const rows = data.limits.map(({ limit, readings, exceeded }, index) => [
    cell(limit),
    cell(readings.map(({ worst, variant }) => `${worst} in ${variant}`).join(', ')),
    numberCell(...readings.map((_, at) => number(`limits.${index}.readings.${at}.value`))),
    element('td', exceeded ? { class: 'crossed' } : {}, exceeded ? '✕ crossed' : '✓ kept'),
  ]);
  byId('limits').replaceChildren(table('Limits', ['limit', 'worst', 'value', ''], rows));
}

export function showEvictions() {
  const { evictions } = run();
  const rows = evictions
    .slice(0, tableRowsMax)
    .map((eviction, index) => [
      numberCell(number(`runs.${state.run}.evictions.${index}.at`, 'duration')),
      cell(`${eviction.namespace}/${eviction.pod}`),
      cell(eviction.node),
      cell(eviction.how),
      cell(eviction.because.join('; ')),
    ]);
  const shown =
    rows.length < evictions.length ? `the first ${rows.length} of ${evictions.length}` : 'all';
  const heads = ['at', 'pod', 'node', 'how', 'because'];
  byId('evictions').replaceChildren(
    element('div', { class: 'scroll' }, table(`Evictions (${shown})`, heads, rows)),
  );
}
