// The Grafana dashboard as the JSON that Grafana imports.
import { type Panel, rows } from './panels.ts';

/** All queries of the dashboard. */
export function dashboardQueries(): readonly string[] {
  return rows.flatMap(({ panels }) =>
    panels.flatMap(({ queries }) => queries.map(([expr]) => expr)),
  );
}

/** dashboard.json, as Grafana imports it. */
export function dashboardJson(): string {
  const panels: object[] = [];
  let [y, id] = [0, 0];
  for (const row of rows) {
    id += 1;
    const gridPos = { h: 1, w: 24, x: 0, y };
    panels.push({ id, type: 'row', title: row.title, collapsed: false, gridPos, panels: [] });
    y += 1;
    const isStat = row.panels.every(({ kind }) => kind === 'stat');
    const [perLine, w, h] = isStat ? [4, 6, 4] : [2, 12, 8];
    for (const [index, panel] of row.panels.entries()) {
      id += 1;
      const line = Math.floor(index / perLine);
      panels.push(panelJson(panel, id, { h, w, x: (index % perLine) * w, y: y + line * h }));
    }
    y += Math.ceil(row.panels.length / perLine) * h;
  }
  return `${JSON.stringify({ ...frame, panels }, null, 2)}\n`;
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: Grafana's own form of a variable.
const datasource = { type: 'prometheus', uid: '${datasource}' };

function panelJson(panel: Panel, id: number, gridPos: object): object {
  const { title, about: description, kind: type = 'timeseries', queries, redFrom, unit } = panel;
  const green = { color: 'green', value: null };
  const steps = redFrom === undefined ? [green] : [green, { color: 'red', value: redFrom }];
  const targets = queries.map(([expr, legendFormat], index) => ({
    ...{ refId: String.fromCharCode(65 + index), datasource, expr, legendFormat },
  }));
  const defaults = { unit: unit ?? 'short', min: 0, thresholds: { mode: 'absolute', steps } };
  const fieldConfig = { defaults, overrides: [] };
  const options = type === 'stat' ? { reduceOptions: { calcs: ['lastNotNull'] } } : {};
  return { id, type, title, description, datasource, gridPos, targets, fieldConfig, options };
}

function variable(name: string): object {
  const query = `label_values(taintmgr_build_info, ${name})`;
  const all = { includeAll: true, allValue: '.*', multi: true };
  return { ...{ name, type: 'query', datasource, query, refresh: 2, sort: 1 }, ...all };
}

const frame = {
  uid: 'taintmgr',
  title: 'taintmgr',
  description:
    'Evictions by node taints: whether they are in time, what holds them, and who else evicts.',
  tags: ['kubernetes', 'taintmgr'],
  schemaVersion: 39,
  editable: true,
  graphTooltip: 1,
  time: { from: 'now-6h', to: 'now' },
  refresh: '1m',
  templating: {
    list: [
      { name: 'datasource', type: 'datasource', query: 'prometheus', label: 'Data source' },
      variable('cluster'),
      variable('namespace'),
    ],
  },
};
