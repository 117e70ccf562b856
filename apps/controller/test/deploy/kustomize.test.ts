import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createEngine, type Engine, type Event, parseTaint } from '@taintmgr/core';
import { nodeFromJson, podFromJson } from '@taintmgr/k8s-adapter';
import { type KubeObject, node, pod } from '@taintmgr/sim-cluster';
import { parseAllDocuments, stringify } from 'yaml';
import { type Checked, checkChoices } from '../../src/flags/checks.ts';
import { type Choices, resolveChoices } from '../../src/flags/resolve.ts';
import { engineConfig } from '../../src/process/engine-config.ts';
import { containerOf, type Manifests, manifestFolder, readManifests } from './manifests.ts';

// deploy/kustomize as our tests read it: every mode with every choice of components, in both orders.
// And as kubectl does: every mode with none of them and with all.

const modes = ['delete', 'evict', 'evict-then-delete', 'observe'].map((mode) => `modes/${mode}`);
const components = [
  'node-lifecycle',
  'node-pressure',
  'node-pressure-kubelets',
  'network-policy',
  'guard-annotations',
  'limits',
].map((component) => `components/${component}`);
/** Two ways to the same. */
const either = ['components/node-pressure', 'components/node-pressure-kubelets'];
const found = spawnSync('kubectl', ['version', '--client']).status === 0;
const isRequired = process.env.REQUIRE_KUBECTL === '1';
const skip = !found && !isRequired && 'there is no kubectl on PATH';

/** Every selection of these, the empty one first. */
function selections(names: readonly string[]): readonly (readonly string[])[] {
  const [first, ...others] = names;
  if (first === undefined) return [[]];
  const without = selections(others);
  return [...without, ...without.map((selection) => [first, ...selection])];
}

const ways = modes.flatMap((mode) =>
  selections(components).flatMap((chosen) => {
    if (either.every((component) => chosen.includes(component))) return [];
    const orders = chosen.length < 2 ? [chosen] : [chosen, chosen.toReversed()];
    return orders.map((order) => [mode, ...order]);
  }),
);

interface Chosen extends Manifests {
  readonly choices: Choices;
  readonly checked: Checked;
}

function chosenBy(objects: readonly KubeObject[], container: Omit<Manifests, 'objects'>): Chosen {
  const choices = resolveChoices(container.flags, container.environment);
  return { objects, ...container, choices, checked: checkChoices(choices) };
}

/** A kustomization of somebody who has chosen this, as kubectl renders it. */
function rendered(t: TestContext, [mode = '', ...chosen]: readonly string[]): Chosen {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'taintmgr-kustomize-')));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = join(folder, 'own');
  mkdirSync(own);
  const path = (name: string): string => relative(own, manifestFolder(name));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [path(mode)],
    components: chosen.map(path),
  };
  writeFileSync(join(own, 'kustomization.yaml'), stringify(kustomization));
  const { stdout, stderr, status } = spawnSync('kubectl', ['kustomize', own], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  const objects: readonly KubeObject[] = parseAllDocuments(stdout).map((each) => each.toJS());
  return chosenBy(objects, containerOf(objects));
}

function read(folders: readonly string[]): Chosen {
  const manifests = readManifests(...folders);
  return chosenBy(manifests.objects, manifests);
}

/** What has been chosen runs, all of it and nothing else. */
function check({ objects, choices, checked }: Chosen, folders: readonly string[]): void {
  const { settings, origins, unknownVariables } = choices;
  assert.deepEqual(unknownVariables, []);
  const has = (component: string): boolean => folders.includes(`components/${component}`);
  const hasPressure = has('node-pressure') || has('node-pressure-kubelets');
  assert.deepEqual(checked.controllers.enabled, [
    'taint-eviction-controller',
    ...(has('node-lifecycle') ? ['node-lifecycle-controller'] : []),
    ...(has('node-drains') ? ['node-drain-controller'] : []),
    ...(hasPressure ? ['node-pressure-controller'] : []),
  ]);
  assert.equal(checked.pressure !== null, hasPressure);
  assert.equal(settings.summarySource, has('node-pressure-kubelets') ? 'kubelet' : 'proxy');
  assert.equal(JSON.stringify(objects).includes('nodes/proxy'), has('node-pressure'));
  assert.equal(
    objects.some(({ kind }) => kind === 'NetworkPolicy'),
    has('network-policy'),
  );
  const definitions = objects.filter(({ kind }) => kind === 'CustomResourceDefinition');
  assert.equal(definitions.length, 5);
  assert.ok(
    objects.some(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'taintmgr-pauser',
    ),
  );
  assert.equal(settings.resourceNamespace, 'taintmgr-system');
  // Else it spares no replica of its own.
  assert.deepEqual(choices.ownPod, { namespace: 'metadata.namespace', name: 'metadata.name' });
  const observes = folders.includes('modes/observe');
  assert.equal(observes ? origins.dryRun : origins.mode, 'environment');
}

function nameOf({ kind, metadata: { name, namespace = '' } }: KubeObject): string {
  return `${kind} ${namespace}/${name}`;
}

function deploymentOf({ objects }: Manifests): KubeObject {
  return objects.find(({ kind }) => kind === 'Deployment') ?? assert.fail();
}

/** How and when a pod is made to leave that no budget ever lets go. */
function leaving(engine: Engine): readonly (readonly [how: string, at: number])[] {
  const taints = [{ ...parseTaint('gone:NoExecute'), timeAdded: null }];
  const one = nodeFromJson(node('n1'));
  const held = podFromJson(pod('shop', 'held', { spec: { nodeName: 'n1' } }));
  const attempts: (readonly [string, number])[] = [];
  const handle = (now: number, event: Event): void => {
    for (const command of engine.handle(now, event)) {
      if (command.kind !== 'evictPod' && command.kind !== 'deletePod') continue;
      attempts.push([command.kind, now]);
      const outcome = { kind: 'blocked', message: 'a budget', retryAfter: null } as const;
      handle(now, { kind: 'result', id: command.id, outcome });
    }
  };
  handle(0, { kind: 'nodeUpsert', node: { ...one, taints } });
  handle(0, { kind: 'podUpsert', pod: held });
  handle(0, { kind: 'synced' });
  for (
    let now = 0;
    attempts.at(-1)?.[0] !== 'deletePod';
    now = engine.nextWake() ?? assert.fail()
  ) {
    handle(now, { kind: 'tick' });
  }
  // Of the tries to evict the first.
  return attempts.filter(([how], index) => how === 'deletePod' || index === 0);
}

describe('deploy/kustomize', () => {
  for (const folders of ways) {
    const title = folders.join(' with ');
    it(`${title} runs what its names say`, () => {
      check(read(folders), folders);
    });

    if (![1, components.length].includes(folders.length)) continue;
    it(`${title} is the same where kubectl reads it`, { skip }, (t) => {
      const one = rendered(t, folders);
      check(one, folders);
      assert.deepEqual(one.objects.map(nameOf).sort(), read(folders).objects.map(nameOf).sort());
    });
  }

  for (const mode of modes.filter((one) => one !== 'modes/observe')) {
    it(`${mode} with components/takeover takes over`, { skip }, (t) => {
      const folders = [mode, 'components/takeover'];
      const one = rendered(t, folders);
      check(one, folders);
      assert.equal(one.choices.settings.takeover, true);
      assert.deepEqual(one.objects.map(nameOf).sort(), read(folders).objects.map(nameOf).sort());
    });
  }

  for (const mode of modes.filter((one) => one !== 'modes/observe')) {
    it(`${mode} with components/node-drains carries out drains`, { skip }, (t) => {
      const folders = [mode, 'components/node-lifecycle', 'components/node-drains'];
      const one = rendered(t, folders);
      check(one, folders);
      assert.equal(engineConfig(one.choices, one.checked).nodeDrains, true);
      assert.deepEqual(one.objects.map(nameOf).sort(), read(folders).objects.map(nameOf).sort());
    });
  }

  for (const name of readdirSync(manifestFolder('clusters'))) {
    it(`modes/observe rehearses the mode of clusters/${name}`, () => {
      const [shadow, next] = ['modes/observe', `clusters/${name}`].map(
        (folder) => read([folder]).choices.settings,
      );
      assert.equal(shadow?.dryRun, 'client');
      assert.equal(next?.dryRun, 'none');
      assert.equal(shadow.mode, next.mode);
    });
  }

  it('modes/evict-then-delete evicts, and deletes ten minutes later what is still held', () => {
    const { choices, checked } = read(['modes/evict-then-delete']);
    const engine = createEngine(engineConfig(choices, checked));
    assert.deepEqual(leaving(engine), [
      ['evictPod', 0],
      ['deletePod', 600_000],
    ]);
  });
});

describe('the objects of deploy/kustomize', () => {
  const all = read([modes[0] ?? '', ...components.filter((one) => one !== either[1])]);

  it('show kubelets the token of an account that may read summaries and nothing else', () => {
    const { objects, choices } = read(['modes/evict', 'components/node-pressure-kubelets']);
    const [namespace, name = ''] = choices.settings.summaryServiceAccount.split('/');
    const bindings = objects.filter(({ subjects = [] }) =>
      subjects.some((subject: { name: string }) => subject.name === name),
    );
    assert.deepEqual(bindings.map(nameOf), [`ClusterRoleBinding /${name}`]);
    const find = (kind: string, called: string): KubeObject =>
      objects.find((one) => one.kind === kind && one.metadata.name === called) ?? assert.fail();
    assert.equal(find('ServiceAccount', name).metadata.namespace, namespace);
    assert.deepEqual(find('ClusterRole', bindings[0]?.roleRef.name).rules, [
      { apiGroups: [''], resources: ['nodes/stats'], verbs: ['get'] },
    ]);
    const { metadata, rules } = find('Role', 'taintmgr-controller:summary-reader-token');
    assert.equal(metadata.namespace, namespace);
    const token = { resources: ['serviceaccounts/token'], resourceNames: [name] };
    assert.deepEqual(rules, [{ apiGroups: [''], ...token, verbs: ['create'] }]);
  });

  it('let the node of the only replica be drained, and that of one that is not ready', () => {
    const budget = all.objects.find(({ kind }) => kind === 'PodDisruptionBudget') ?? assert.fail();
    assert.equal(budget.spec.maxUnavailable, 1);
    assert.equal(budget.spec.unhealthyPodEvictionPolicy, 'AlwaysAllow');
    assert.equal(budget.spec.minAvailable, undefined);
    assert.deepEqual(budget.spec.selector, deploymentOf(all).spec.selector);
  });

  it('leave each replica on a node that is tainted, and take it from a dead one in five minutes', () => {
    const { template } = deploymentOf(all).spec;
    const object = pod('taintmgr-system', 'controller', {
      spec: { ...template.spec, nodeName: 'n' },
    });
    const judge = (mode: 'delete' | 'evict' | 'evict-then-delete', taints: readonly string[]) => {
      const engine = createEngine({ mode });
      const tainted = taints.map((taint) => ({
        ...parseTaint(taint),
        timeAdded: '1970-01-01T00:00:00Z',
      }));
      engine.handle(0, {
        kind: 'nodeUpsert',
        node: nodeFromJson(node('n', { spec: { taints: tainted } })),
      });
      engine.handle(0, { kind: 'podUpsert', pod: podFromJson(object) });
      const explained = engine.explain(0, { kind: 'node', name: 'n' });
      if (explained?.kind !== 'node') return assert.fail();
      const decision = explained.pods[0]?.decision ?? assert.fail();
      return decision.kind === 'evict' ? decision.deadline : decision.kind;
    };
    const [wrong, gpu] = ['health.example/gpu=failed:NoExecute', 'spot:NoExecute'];
    const dead = ['not-ready', 'unreachable'].map((key) => `node.kubernetes.io/${key}:NoExecute`);
    // The second in which a taint was put on counts from its end.
    const replaced = 301_000;
    for (const mode of ['delete', 'evict', 'evict-then-delete'] as const) {
      assert.equal(judge(mode, [wrong]), 'keep');
      assert.equal(judge(mode, [wrong, gpu]), 'keep');
      for (const taint of dead) {
        assert.equal(judge(mode, [taint]), replaced);
        assert.equal(judge(mode, [wrong, taint]), replaced);
      }
    }
  });

  it('bring the quota without which some providers admit no critical pods', () => {
    const { metadata, spec } = deploymentOf(all);
    const quota = all.objects.find(({ kind }) => kind === 'ResourceQuota') ?? assert.fail();
    assert.equal(quota.metadata.namespace, metadata.namespace);
    const [scope] = quota.spec.scopeSelector.matchExpressions;
    assert.deepEqual(scope.values, [spec.template.spec.priorityClassName]);
    assert.ok(Number(quota.spec.hard.pods) >= 2 * spec.replicas);
  });

  it('have probes on the port that is health alone', () => {
    const [container] = deploymentOf(all).spec.template.spec.containers;
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { path, port, scheme = 'HTTP' } = container[probe].httpGet;
      assert.deepEqual([port, scheme], ['health', 'HTTP']);
      assert.match(path, /^\/(livez|readyz)$/);
    }
    const { settings } = all.choices;
    assert.deepEqual(container.ports, [
      { name: 'https', containerPort: settings.securePort },
      { name: 'health', containerPort: settings.healthzPort },
    ]);
  });

  it('let nobody in but to health, and to metrics from the namespaces that collect them', () => {
    const policy = all.objects.find(({ kind }) => kind === 'NetworkPolicy') ?? assert.fail();
    assert.deepEqual(policy.spec.podSelector, deploymentOf(all).spec.selector);
    assert.deepEqual(policy.spec.policyTypes, ['Ingress', 'Egress']);
    const ports = policy.spec.ingress.map(
      ({ from, ports }: { from?: readonly object[]; ports: readonly { port: string }[] }) =>
        `${ports.map(({ port }) => port)} ${from ? JSON.stringify(from) : 'from all'}`,
    );
    const collectors = [{ namespaceSelector: { matchLabels: { metrics: 'enabled' } } }];
    assert.deepEqual(ports, ['health from all', `https ${JSON.stringify(collectors)}`]);
  });

  for (const way of [
    ['clusters/own'],
    ['clusters/own-declared'],
    ['clusters/managed'],
    ['modes/evict', 'components/deletions'],
    ['modes/delete', 'components/evictions'],
    ['modes/evict-then-delete'],
  ]) {
    it(`let policies do all that their actions say: ${way.join(' with ')}`, () => {
      const roles = read(way).objects.filter(({ kind }) => kind === 'ClusterRole');
      const bound = roles.filter(({ metadata }) => metadata.name.startsWith('taintmgr-controller'));
      const rights = bound.flatMap(({ rules = [] }) =>
        rules.flatMap((rule: Readonly<Record<'resources' | 'verbs', readonly string[]>>) =>
          rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${verb} ${resource}`)),
        ),
      );
      for (const right of ['delete pods', 'patch pods/status', 'create pods/eviction']) {
        assert.ok(rights.includes(right), right);
      }
    });
  }

  it('are what Pod Security calls restricted', () => {
    const { spec } = deploymentOf(all).spec.template;
    for (const shared of ['hostNetwork', 'hostPID', 'hostIPC'])
      assert.equal(spec[shared], undefined);
    const { runAsNonRoot, seccompProfile } = spec.securityContext;
    assert.deepEqual([runAsNonRoot, seccompProfile], [true, { type: 'RuntimeDefault' }]);
    for (const { securityContext, ports } of spec.containers) {
      assert.deepEqual(securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      assert.ok(ports.every(({ hostPort }: { hostPort?: number }) => hostPort === undefined));
    }
    const namespace = all.objects.find(({ kind }) => kind === 'Namespace');
    assert.equal(namespace?.metadata.labels?.['pod-security.kubernetes.io/enforce'], 'restricted');
  });
});
