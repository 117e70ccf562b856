import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from '../../../world/run.ts';
import { temporaryFiles } from '../../../world/simulate-files.ts';

// What `doctor -f` says of policies, taint rules and pauses that the API server would take.

const { path, write } = temporaryFiles();

/** The name is on the third line, the spec on the fourth. */
const object = (kind: string, name: string, spec: string): string =>
  `apiVersion: taintmgr.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
const policy = (name: string, spec: string): string => object('EvictionPolicy', name, spec);
const rule = (name: string, spec: string): string => object('NodeTaintRule', name, spec);
const pause = (name: string, spec: string): string => object('EvictionPause', name, spec);

interface Finding {
  readonly level: string;
  readonly line: number;
  readonly about: string;
  readonly message: string;
  readonly fix: string;
}

/** `LEVEL LINE ABOUT: message; fix` of each finding. */
async function findings(objects: readonly string[]): Promise<readonly string[]> {
  const file = write('file.yaml', objects.join('---\n'));
  const { out } = await run('doctor', '-f', file, '-o', 'json');
  const report: { readonly findings: readonly Finding[] } = JSON.parse(out);
  return report.findings.map(({ level, line, about, message, fix }) =>
    `${level} ${line} ${about}: ${message}; ${fix}`.replaceAll(file, 'FILE'),
  );
}

const notReady = 'match: {taints: [{key: node.kubernetes.io/not-ready}]}';
const odd = 'condition: {type: Odd}, taint: {key: example.com/odd, effect: NoExecute}';
const another = 'give one of them another priority';
const apart = (name: string, line: number, first: string): string =>
  `may match the same pods as EvictionPolicy "${name}" (FILE:${line}), and both have priority 0: "${first}" counts only by its name; ${another}`;
const hint = (key: string): string =>
  `neither Kubernetes nor a NodeTaintRule of these files sets a taint ${key}; leave it if another program does, such as drain-by-taint or an autoscaler`;
const ofPods = (labels: string): string => `match: {podSelector: {matchLabels: {${labels}}}}`;

const cases: readonly (readonly [
  name: string,
  objects: readonly string[],
  found: readonly string[],
])[] = [
  [
    'two policies of which only the name decides',
    [policy('b', 'action: Delete'), policy('a', `${notReady}, action: Evict`)],
    [`WARN 8 evictionpolicy/a: ${apart('b', 3, 'a')}`],
  ],
  ['that say the same', [policy('a', 'action: Evict'), policy('b', 'action: Evict')], []],
  [
    'with priorities of their own',
    [policy('a', 'action: Evict'), policy('b', 'priority: 1, action: Delete')],
    [],
  ],
  [
    'of which one only limits',
    [policy('a', 'limits: [{per: Zone, percent: 20}]'), policy('b', 'action: Delete')],
    [],
  ],
  [
    'for taints with other keys',
    [
      policy('a', `${notReady}, action: Delete`),
      policy('b', 'match: {taints: [{key: node.kubernetes.io/unreach*}]}, action: Evict'),
    ],
    [],
  ],
  [
    'for patterns of keys that have one in common',
    [
      policy('a', 'match: {taints: [{key: "node.kubernetes.io/*"}]}, action: Delete'),
      policy('b', 'match: {taints: [{key: "*/unreachable"}]}, action: Evict'),
    ],
    [`WARN 8 evictionpolicy/b: ${apart('a', 3, 'a')}`],
  ],
  [
    'for pods with other labels',
    [
      policy('a', `${ofPods('app: web')}, action: Delete`),
      policy('b', `${ofPods('app: db')}, action: Evict`),
    ],
    [],
  ],
  [
    'for pods that may have the labels of both',
    [
      policy('a', `${ofPods('app: web')}, action: Delete`),
      policy('b', `${ofPods('tier: front')}, action: Evict`),
    ],
    [`WARN 8 evictionpolicy/b: ${apart('a', 3, 'a')}`],
  ],
  [
    'for nodes, namespaces and priorities apart',
    [
      policy(
        'a',
        'match: {nodeSelector: {matchLabels: {p: x}}, namespaces: [b-*]}, action: Delete',
      ),
      policy('b', 'match: {nodeSelector: {matchLabels: {p: other}}}, action: Evict'),
      policy('c', 'match: {namespaces: [c], podPriority: {min: 5}}, action: EvictThenDelete'),
      policy(
        'd',
        'match: {namespaces: ["*c"], podPriority: {max: 4}}, action: KubeControllerManager',
      ),
    ],
    [
      `WARN 13 evictionpolicy/c: ${apart('b', 8, 'b')}`,
      `WARN 18 evictionpolicy/d: ${apart('a', 3, 'a')}`,
      `WARN 18 evictionpolicy/d: ${apart('b', 8, 'b')}`,
    ],
  ],
  [
    'an action by its earlier name',
    [policy('a', 'match: {namespaces: [a]}, action: Upstream')],
    [
      'WARN 4 evictionpolicy/a: Upstream is an earlier name; spec.action: write KubeControllerManager instead of Upstream',
    ],
  ],
  [
    'a selector that contradicts itself',
    [
      policy(
        'a',
        'match: {podSelector: {matchLabels: {app: web}, matchExpressions: [{key: app, operator: NotIn, values: [web]}]}}, action: Evict',
      ),
    ],
    [
      'WARN 4 evictionpolicy/a: podSelector contradicts itself about the label app: no pod has such labels, and the policy never matches; fix the selector',
    ],
  ],
  [
    'taints that make nobody leave',
    [
      policy(
        'a',
        'match: {taints: [{key: node.kubernetes.io/unschedulable, effect: NoSchedule}]}, action: Evict',
      ),
    ],
    [
      'WARN 4 evictionpolicy/a: no pod leaves for taints without the effect NoExecute: the policy never matches; write effect: NoExecute',
    ],
  ],
  [
    'a key that nobody here sets',
    [policy('a', 'match: {taints: [{key: example.com/odd}]}, action: Evict')],
    [`INFO 4 evictionpolicy/a: ${hint('example.com/odd')}`],
  ],
  [
    'a key that a rule sets',
    [policy('a', 'match: {taints: [{key: "example.com/*"}]}, action: Evict'), rule('odd', odd)],
    [],
  ],
  [
    'nothing but what is kept',
    [policy('a', 'action: Keep')],
    [
      'WARN 4 evictionpolicy/a: keeps every pod, and no policy here comes before it: no taint evicts anybody; say in spec.match which pods it is for, or give others a higher priority',
    ],
  ],
  [
    'what is kept unless a policy before it says otherwise',
    [policy('a', 'action: Keep'), policy('b', `${notReady}, priority: 1, action: Evict`)],
    [],
  ],
  [
    'deletions before pods are gone',
    [policy('a', 'action: EvictThenDelete, deleteAfter: 10s, gracePeriodSeconds: 60')],
    [
      'WARN 4 evictionpolicy/a: deleteAfter 10s is over before the first pods are gone (gracePeriodSeconds 60): the others are deleted against their budgets; make deleteAfter longer than the grace period',
    ],
  ],
  [
    'deletions after pods are gone',
    [policy('a', 'action: EvictThenDelete, deleteAfter: 1m, gracePeriodSeconds: 60')],
    [],
  ],
  [
    'a rate at which nobody leaves',
    [policy('a', 'limits: [{per: Total, podsPerSecond: 0.0001}]')],
    [
      'WARN 4 evictionpolicy/a: podsPerSecond 0.0001 lets one pod go in 2h46m; write how many go in a second',
    ],
  ],
  [
    'limits that hold nobody',
    [
      policy(
        'a',
        'match: {nodeSelector: {matchLabels: {p: x}}}, limits: [{per: Zone, name: r/z/a, pods: 1}, ' +
          '{per: Workload, name: shop/web, pods: 1}, {per: Zone, name: r/z, pods: 1, nodeSelector: {matchLabels: {p: other}}}]',
      ),
    ],
    [
      'WARN 4 evictionpolicy/a: "r/z/a" is the name of no zone: it limits nothing; write it as region/zone',
      'WARN 4 evictionpolicy/a: "shop/web" is the name of no workload: it limits nothing; write it as namespace/kind/name',
      'WARN 4 evictionpolicy/a: nodeSelector and what the policy matches contradict each other about the label p: it limits nothing; fix the selector',
    ],
  ],
  [
    'a rule that taints nobody',
    [rule('odd', `${odd}, maxNodes: 0%`)],
    [
      'WARN 4 nodetaintrule/odd: maxNodes 0%: it never taints a node; allow one, or write dryRun: true',
    ],
  ],
  [
    "a rule for one of Kubernetes' own taints",
    [rule('odd', odd.replace('example.com/odd', 'node.kubernetes.io/memory-pressure'))],
    [
      "WARN 4 nodetaintrule/odd: taints of node.kubernetes.io/ are Kubernetes' own: others put node.kubernetes.io/memory-pressure on and take it off too; choose a key of your own",
    ],
  ],
  [
    'a rule for a taint that the node lifecycle takes off',
    [rule('odd', odd.replace('example.com/odd', 'node.kubernetes.io/unreachable'))],
    [
      'FAIL 4 nodetaintrule/odd: spec: Invalid value: want a taint of your own: the node-lifecycle-controller removes this one; ',
    ],
  ],
  [
    'a kind of ours in a version that there is not',
    [policy('a', 'action: Evict').replace('v1alpha1', 'v1')],
    [
      'FAIL 2 evictionpolicy/a -n default: got kind "EvictionPolicy" of "taintmgr.dev/v1", want EvictionPolicy, NodeTaintRule, EvictionPause, NodeDrain, TaintManager of taintmgr.dev/v1alpha1; ',
    ],
  ],
  [
    'a label that nothing can have',
    [policy('a', `${ofPods('a: ü')}, action: Keep`)],
    [
      `FAIL 4 evictionpolicy/a: spec.match.podSelector.matchLabels[a]: Invalid value: "ü": want letters, digits, '-', '_' and '.'; `,
    ],
  ],
  [
    'a drain whose taint others may evict for',
    [
      policy('a', 'nodes: [n1], taint: {key: work, effect: NoExecute}').replace(
        'EvictionPolicy',
        'NodeDrain',
      ),
    ],
    [
      'WARN 4 nodedrain/a: the drain does not begin where another controller evicts for NoExecute taints, or where that is unknown: no budget would be asked; use work:NoSchedule, for which no other controller evicts',
    ],
  ],
  [
    'windows that nobody can open',
    [
      policy(
        'a',
        "nodes: [n1], taint: {key: work}, windows: [{schedule: '99 2 * * *', duration: 1h}, {schedule: '0 22 * * fri-mon', duration: 1h}, {schedule: '0 2 * * *', duration: 1h, timeZone: Mars/Olympus}, {schedule: '0 2 30 2 *', duration: 1h}, {schedule: '0 2 * * sat', duration: 8h}]",
      ).replace('EvictionPolicy', 'NodeDrain'),
    ],
    [
      'FAIL 4 nodedrain/a: the window: got schedule "99 2 * * *", timeZone "Etc/UTC": CronPattern: Invalid value for minute: 99: no node ever begins; ',
      `FAIL 4 nodedrain/a: the window: got schedule "0 22 * * fri-mon", timeZone "Etc/UTC": CronPattern: From value is larger than to value: '5-1': no node ever begins; `,
      'FAIL 4 nodedrain/a: the window: got schedule "0 2 * * *", timeZone "Mars/Olympus": there is no such time zone: no node ever begins; ',
      'FAIL 4 nodedrain/a: the window never opens: no node ever begins; ',
    ],
  ],
  [
    'a window of no length, and a taint of the node lifecycle',
    [
      policy(
        'a',
        "nodes: [n1], taint: {key: node.kubernetes.io/not-ready}, windows: [{schedule: '0 2 * * *', duration: 0s}, {schedule: '0 2 * * *', duration: soon}]",
      ).replace('EvictionPolicy', 'NodeDrain'),
    ],
    [
      'FAIL 4 nodedrain/a: spec.taint: Invalid value: want a key of your own: node lifecycle controllers put this taint on and take it off as the state of the node has it; ',
      'FAIL 4 nodedrain/a: spec.windows[0].duration: Invalid value: "0s": want a duration longer than 0; ',
      'FAIL 4 nodedrain/a: spec.windows[1].duration: Invalid value: "soon": want a duration such as 30s, 10m or 1h30m; ',
      'FAIL 4 nodedrain/a: spec.windows[1].duration: Invalid value: "soon": want a duration longer than 0; ',
    ],
  ],
  [
    'a condition that two rules map',
    [
      rule('odd', odd),
      rule('other', odd.replace('NoExecute', 'NoSchedule')),
      rule('unset', odd.replace('Odd', 'Odd, status: "False"')),
    ],
    [
      'WARN 9 nodetaintrule/other: maps the condition Odd=True of the same nodes as NodeTaintRule "odd" (FILE:3) does; leave one of them, or set their nodeSelectors apart',
    ],
  ],
  [
    'of different nodes',
    [
      rule('odd', `${odd}, nodeSelector: {matchLabels: {p: x}}`),
      rule('other', `${odd}, nodeSelector: {matchLabels: {p: other}}`),
    ],
    [],
  ],
  [
    'a rule for no node',
    [
      rule(
        'odd',
        `${odd}, nodeSelector: {matchExpressions: [{key: p, operator: Exists}, {key: p, operator: DoesNotExist}]}`,
      ),
    ],
    [
      'WARN 4 nodetaintrule/odd: nodeSelector contradicts itself about the label p: the rule is for no node; fix the selector',
    ],
  ],
  [
    'pauses that have ended',
    [
      pause('old', 'until: "2020-01-01T00:00:00Z"'),
      pause('new', 'until: "2999-01-01T00:00:00Z"'),
      pause('open', ''),
    ],
    [
      'WARN 4 evictionpause/old: ended at 2020-01-01T00:00:00Z: it holds nothing; delete it, or give it another end',
    ],
  ],
];

describe('doctor -f of policies', () => {
  for (const [name, objects, found] of cases) {
    it(name, async () => assert.deepEqual(await findings(objects), found));
  }

  it('finds a policy without a name in a folder with other things', async () => {
    mkdirSync(path('nameless'));
    const file = write(
      'nameless/policy.yaml',
      'apiVersion: taintmgr.dev/v1alpha1\nkind: EvictionPolicy\nspec: {action: Keep}\n',
    );
    write('nameless/values.yaml', 'a: 1\n');
    const { code, out } = await run('doctor', '-f', dirname(file), '--no-headers');
    assert.equal(code, 1);
    assert.match(out, /^FAIL .*policy\.yaml:1 .*\n {6}metadata\.name: Required value/m);
    assert.match(out, /^INFO .*values\.yaml:1\n {6}.*metadata\.name missing/m);
  });

  it('finds nothing wrong with the recipes', async () => {
    const recipes = fileURLToPath(new URL('../../../../../../docs/policies', import.meta.url));
    const { code, out } = await run('doctor', '-f', recipes, '--no-headers');
    assert.equal(code, 0);
    assert.match(out, /^INFO .*20-spot\.yaml:\d+ {2}evictionpolicy\/spot\n(?: .*\n)+$/);
  });
});
