// The document, what of it is looked at, and how it is written down.

export const data = JSON.parse(document.getElementById('data').textContent);
export const end = data.untilSeconds;
const svgSpace = 'http://www.w3.org/2000/svg';

const lanesShownFirst = 60;

export const state = { run: 0, at: 0, mark: -1, lanesShown: lanesShownFirst };

export const byId = (id) => document.getElementById(id);

export function element(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(svgSpace, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  node.append(...children);
  return node;
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['m', 60],
  ['s', 1],
];

/** The two largest units that are not zero: `41s`, `2m54s`, `1h5m`. */
export function duration(seconds) {
  let rest = seconds;
  let text = '';
  let used = 0;
  for (const [name, size] of units) {
    const count = Math.floor(rest / size);
    rest %= size;
    if (count > 0) text += `${count}${name}`;
    if (text !== '') used++;
    if (used === 2) break;
  }
  return text === '' ? '0s' : text;
}

function valueAt(path) {
  return path.split('.').reduce((value, step) => value[step], data);
}

/** A number of the document, as it is or as a length of time. */
export function number(path, format = 'plain') {
  const value = valueAt(path);
  const text = value === null ? '–' : format === 'duration' ? duration(value) : String(value);
  return element('span', { 'data-path': path, 'data-format': format }, text);
}

export const cell = (...children) => element('td', {}, ...children);
export const numberCell = (...children) => element('td', { class: 'number' }, ...children);

export function table(caption, heads, rows) {
  // A column is headed where its cells begin: numbers end at the right.
  const [first = []] = rows;
  const headCells = heads.map((text, index) => {
    return element('th', { scope: 'col', class: first[index]?.className ?? '' }, text);
  });
  const head = element('tr', {}, ...headCells);
  const body = rows.map((cells) => element('tr', {}, ...cells));
  return element(
    'table',
    {},
    element('caption', {}, caption),
    element('thead', {}, head),
    element('tbody', {}, ...body),
  );
}

/** The last of the steps that has begun at that time; -1: none has. */
export function indexAt(steps, at) {
  let low = 0;
  let high = steps.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps[middle].at <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

export const run = () => data.runs[state.run];
export const workloadName = ({ kind, namespace, name }) => `${kind} ${namespace}/${name}`;
