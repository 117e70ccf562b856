// The Grafana dashboard as the JSON that Grafana imports.

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

/** One panel. */
interface Panel {
  readonly title: string;
  readonly about: string;
  readonly unit?: 'short' | 's' | 'percent' | 'percentunit' | 'ops' | 'bytes' | 'bool';
  readonly kind?: 'stat' | 'timeseries';
  readonly queries: readonly (readonly [expr: string, legend: string])[];
  /** From here on it is red. */
  readonly redFrom?: number;
}

/** Panels under one heading. */
interface Row {
  readonly title: string;
  readonly panels: readonly Panel[];
}

/** The selection that the variables of the dashboard make. */
const chosen = 'cluster=~"$cluster",namespace=~"$namespace"';
const of = (name: string, more = ''): string => `${name}{${chosen}${more && `,${more}`}}`;
const rate = (name: string, more?: string): string => `rate(${of(name, more)}[$__rate_interval])`;
const quantile = (q: number, name: string): string =>
  `histogram_quantile(${q}, sum by (le) (${rate(`${name}_bucket`)}))`;

/** From top to bottom. */
const rows: readonly Row[] = [
  {
    title: 'Service levels',
    panels: [
      {
        title: 'Replicas that act',
        about: 'Must be 1. 0 means that no leader evicts, 2 that limits count twice.',
        kind: 'stat',
        redFrom: 2,
        queries: [[`sum(${of('taintmgr_acting')})`, 'acting']],
      },
      {
        title: 'Late evictions, 30 days',
        about:
          'Began more than 30 s after the pod was due though nothing held it. The objective is 0.',
        kind: 'stat',
        redFrom: 1,
        queries: [[`sum(increase(${of('taintmgr_late_evictions_total')}[30d]))`, 'late']],
      },
      {
        title: 'Lost evictions',
        about:
          'Due for more than a minute, held by nothing, and nothing was sent. The objective is 0.',
        kind: 'stat',
        redFrom: 1,
        queries: [[`max(${of('taintmgr_lost_evictions')})`, 'lost']],
      },
      {
        title: 'Limits that have tripped',
        about: 'Evictions under these limits wait until an operator resumes the limits.',
        kind: 'stat',
        redFrom: 1,
        queries: [[`sum(${of('taintmgr_limit_tripped')}) or vector(0)`, 'tripped']],
      },
    ],
  },
  {
    title: 'Evictions',
    panels: [
      {
        title: 'Pods that will be evicted',
        about:
          'Overdue pods are those past their deadline: a budget, a limit or a pause holds them.',
        queries: [
          [`max(${of('taintmgr_pending_evictions')})`, 'pending'],
          [`max(${of('taintmgr_overdue_evictions')})`, 'overdue'],
          [`max(${of('taintmgr_evictions_under_way')})`, 'under way'],
        ],
      },
      {
        title: 'Evictions sent',
        about: 'By what became of them: done, blocked by a budget, failed.',
        unit: 'ops',
        queries: [
          [
            `sum by (mode, outcome) (${rate('taintmgr_eviction_attempts_total')})`,
            '{{mode}} {{outcome}}',
          ],
        ],
      },
      {
        title: 'From the deadline to the request',
        about: 'Retries of what a budget holds count too, so this grows while budgets block.',
        unit: 's',
        queries: [
          [quantile(0.5, 'taintmgr_eviction_lag_seconds'), 'half'],
          [quantile(0.99, 'taintmgr_eviction_lag_seconds'), '99 of 100'],
        ],
      },
      {
        title: 'What blocks them',
        about: 'Evictions that failed and are tried again, by the reason.',
        unit: 'ops',
        queries: [
          [`sum by (blocker) (${rate('taintmgr_eviction_setbacks_total')})`, '{{blocker}}'],
        ],
      },
      {
        title: 'Decisions',
        about: 'Evictions scheduled, moved and called off, by the cause.',
        unit: 'ops',
        queries: [
          [
            `sum by (decision, cause) (${rate('taintmgr_decisions_total')})`,
            '{{decision}} {{cause}}',
          ],
        ],
      },
      {
        title: 'Deleted in spite of a budget',
        about: 'After the time that evict-then-delete gives budgets.',
        queries: [[`sum(increase(${of('taintmgr_pdb_bypass_total')}[$__rate_interval]))`, 'pods']],
      },
      {
        title: 'Held by limits',
        about: 'By the scope in which the limit counts.',
        unit: 'ops',
        queries: [
          [
            `sum by (per, tripped) (${rate('taintmgr_evictions_held_total')})`,
            '{{per}} tripped={{tripped}}',
          ],
        ],
      },
      {
        title: 'Evicted within the window of a limit',
        about: 'How full limits are.',
        queries: [[`max by (limit) (${of('taintmgr_limit_evicted_pods')})`, '{{limit}}']],
      },
    ],
  },
  {
    title: 'Nodes and zones',
    panels: [
      {
        title: 'Healthy nodes',
        about: 'For each zone, of its nodes.',
        unit: 'percent',
        queries: [[`min by (zone) (${of('node_collector_zone_health')})`, '{{zone}}']],
      },
      {
        title: 'Nodes queued for their taint',
        about: 'The rate of their zone lets them through one by one.',
        queries: [[`max by (zone) (${of('taintmgr_taint_queue_depth')})`, '{{zone}}']],
      },
      {
        title: 'Zones in disruption',
        about: 'In full disruption, no further node is tainted.',
        unit: 'bool',
        queries: [
          [
            `max by (zone, state) (${of('taintmgr_zone_state', 'state=~"PartialDisruption|FullDisruption"')})`,
            '{{zone}} {{state}}',
          ],
        ],
      },
      {
        title: 'Nodes tainted',
        about: 'For each zone.',
        unit: 'ops',
        queries: [[`sum by (zone) (${rate('node_collector_evictions_total')})`, '{{zone}}']],
      },
    ],
  },
  {
    title: 'Others who evict, and takeover',
    panels: [
      {
        title: 'Another program does the same work',
        about: '1: it was found. Pods marked by others are counted beside.',
        queries: [
          [`max(${of('taintmgr_overlap')})`, 'overlap'],
          [
            `sum by (manager) (increase(${of('taintmgr_foreign_evictions_total')}[$__rate_interval]))`,
            'pods by {{manager}}',
          ],
        ],
      },
      {
        title: 'Takeover',
        about: 'Whether its policies are in force, and what they have spared or let through.',
        queries: [
          [`max(${of('taintmgr_takeover_policies_in_force')})`, 'in force'],
          [`sum(${of('taintmgr_takeover_held_pods')})`, 'pods spared and there'],
          [
            `sum(increase(${of('taintmgr_takeover_let_through_pods_total')}[$__rate_interval]))`,
            'let through',
          ],
        ],
      },
      {
        title: 'Shadow: what would have been otherwise',
        about:
          'Pods that kube-controller-manager deleted, by what taintmgr would have done (mode observe).',
        queries: [[`max by (verdict) (${of('taintmgr_shadow_pods_total')})`, '{{verdict}}']],
      },
      {
        title: 'Node pressure',
        about: 'Evictions from nodes that run short, by the signal.',
        unit: 'ops',
        queries: [
          [
            `sum by (eviction_signal) (${rate('taintmgr_node_pressure_evictions_total')})`,
            '{{eviction_signal}}',
          ],
        ],
      },
    ],
  },
  {
    title: 'The program',
    panels: [
      {
        title: 'Requests to the API server',
        about: 'By verb and answer.',
        unit: 'ops',
        queries: [
          [`sum by (method, code) (${rate('rest_client_requests_total')})`, '{{method}} {{code}}'],
        ],
      },
      {
        title: 'How long they take',
        about: 'For 99 of 100.',
        unit: 's',
        queries: [
          [quantile(0.99, 'rest_client_request_duration_seconds'), 'answer'],
          [quantile(0.99, 'rest_client_rate_limiter_duration_seconds'), 'wait for --kube-api-qps'],
        ],
      },
      {
        title: 'Age of what is known',
        about: 'Since the last change or bookmark of each resource.',
        unit: 's',
        queries: [
          [
            `max by (resource) (time() - ${of('taintmgr_watch_last_event_timestamp_seconds')})`,
            '{{resource}}',
          ],
        ],
      },
      {
        title: 'Stalls',
        about: 'Longest time within 15 s in which the process did nothing.',
        unit: 's',
        queries: [[`max by (pod) (${of('taintmgr_event_loop_lag_seconds')})`, '{{pod}}']],
      },
      {
        title: 'Memory',
        about: 'Resident.',
        unit: 'bytes',
        queries: [
          [`max by (pod) (${of('process_resident_memory_bytes', 'job=~"taintmgr.*"')})`, '{{pod}}'],
        ],
      },
      {
        title: 'CPU',
        about: 'Seconds of a processor in each second.',
        unit: 'short',
        queries: [
          [`sum by (pod) (${rate('process_cpu_seconds_total', 'job=~"taintmgr.*"')})`, '{{pod}}'],
        ],
      },
    ],
  },
];
