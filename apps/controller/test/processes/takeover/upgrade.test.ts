import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiRequest, KubeObject, Rule } from '@taintmgr/sim-cluster';
import { ask } from '../../harness/https-client.ts';
import {
  assertEvicted,
  assertSpared,
  begun,
  changeMarks,
  evictions,
  holding,
  letThroughText,
  openPages,
  pause,
  policies,
  published,
  restartManager,
  resume,
  startController,
  upset,
} from './takeover-controller.ts';
import { TakeoverWorld } from './takeover-world.ts';

// What is restarted, upgraded or removed under a controller with --takeover, over HTTPS.

const takeoverVersionAnnotation = 'taintmgr.dev/takeover-version';
const definition = 'taintmanagers.taintmgr.dev';

function policyIn(world: TakeoverWorld): KubeObject {
  return world.api.get(policies, '', 'taintmgr-takeover') ?? assert.fail('there is no policy');
}

describe('the API server', () => {
  it('restarts: it refuses as soon as it serves, and nothing is deleted in between', async (t) => {
    const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
    const tolerations = [{ ...toleration, tolerationSeconds: 2 }];
    const { world, controller } = await holding(t, 'kept', {
      before: (one) => one.pod('in', 'later', { tolerations }),
    });
    upset(world);
    await assertSpared(world, 'kept');
    await world.manager.stop();
    await world.restart();
    const before = world.marks('in', 'later').length;
    world.manager.start();
    await world.refused('in', 'kept', 10);
    // It counts the seconds anew, against an API server that has just begun.
    await assertSpared(world, 'later', before + 5);
    await assertSpared(world, 'kept', 10);
    resume(world);
    await world.deleted('in', 'kept');
    await world.deleted('in', 'later');
    assert.ok(evictions(world).length >= 2);
    await controller.stop();
  });

  it('restarts, and knows no heartbeat at first: lets through, and that is told', async (t) => {
    const { world, controller } = await holding(t, 'gone');
    upset(world);
    await assertSpared(world, 'gone');
    // Connections and watches begin anew; who loses his lease meanwhile begins anew, too.
    await world.restart(10_000);
    await restartManager(world);
    await world.deleted('in', 'gone');
    await controller.saw(letThroughText('gone'));
    await world.until(() => published(world).takeover?.letThrough === 1);
    await world.passed(10_000);
    world.pod('in', 'kept');
    await assertSpared(world, 'kept');
    assert.equal(evictions(world).length, 0);
    await controller.stop();
  });

  it('has an older definition of TaintManager: nothing begins, and what to do is told', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'gone');
    const present = world.api.get('customresourcedefinitions', '', definition) ?? assert.fail();
    const old = structuredClone(present);
    delete old.spec.versions[0].schema.openAPIV3Schema.properties.status.properties.takeover;
    world.api.update('customresourcedefinitions', old);
    const controller = await startController(t, world);
    await controller.saw(
      'takeover does not begin: the definition of TaintManager is older than this controller, and drops status.takeover',
      { install: 'kubectl taintmgr install crds' },
    );
    upset(world);
    await world.deleted('in', 'gone');
    assert.equal(evictions(world).length, 0);
    const now = world.api.get('customresourcedefinitions', '', definition) ?? assert.fail();
    world.api.update('customresourcedefinitions', { ...now, spec: present.spec });
    await controller.saw('publishing status');
    const toleration = { key: 'bad', operator: 'Exists', effect: 'NoExecute' };
    world.pod('in', 'ours', { tolerations: [{ ...toleration, tolerationSeconds: 2 }] });
    await world.deleted('in', 'ours');
    assertEvicted(world, 'ours');
    await controller.stop();
  });

  it('leaves out a field of the policies: nothing is refused, we evict nothing, and say so', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'gone');
    world.change((request) => withoutMatchConditions(request));
    const controller = await startController(t, world, openPages);
    await controller.saw('an object of takeover is missing or changed', {
      object: 'validatingadmissionpolicy/taintmgr-takeover',
    });
    await world.until(() => published(world).takeover?.enabled === false);
    assert.match(
      published(world).takeover?.drift?.join() ?? '',
      /taintmgr-takeover: spec\.matchConditions is missing, not \[/,
    );
    const health = await ask(controller.port, '/healthz?verbose');
    assert.match(health.body, /^\[-\]takeover failed/m);
    upset(world);
    await world.deleted('in', 'gone');
    assert.equal(evictions(world).length, 0);
    await controller.stop();
  });

  it('does not know such policies: nothing is refused, we evict nothing, and say why', async (t) => {
    const world = await TakeoverWorld.start(t);
    world.pod('in', 'gone');
    world.change(({ path, ...request }) => {
      return { ...request, path: path.replace(/(?<=\/validating)admissionpolic/, 'nothing') };
    });
    const controller = await startController(t, world);
    await controller.saw('could not check the policies of takeover');
    await world.until(() => published(world).takeover?.enabled === false);
    upset(world);
    await world.deleted('in', 'gone');
    assert.equal(evictions(world).length, 0);
    await controller.stop();
  });
});

function withoutMatchConditions(request: ApiRequest): ApiRequest {
  const { path, body } = request;
  if (!path.includes(`/${policies}/`) || body === null) return request;
  const sent = JSON.parse(`${body}`);
  const spec = Array.isArray(sent) ? sent[0].value : sent.spec;
  delete spec.matchConditions;
  return { ...request, body: JSON.stringify(sent) };
}

describe('kube-controller-manager', () => {
  it('writes another reason: it is let through, and that is told', async (t) => {
    const { world, controller } = await holding(t, 'gone');
    changeMarks(world, (body) => body.replace('DeletionByTaintManager', 'DeletionByTaint'));
    upset(world);
    await world.deleted('in', 'gone');
    await controller.saw(
      'kube-controller-manager was let through with pod in/gone, whose namespace is taken over: ' +
        'it gives the reason DeletionByTaint, which the policies do not know',
    );
    await world.until(() => published(world).takeover?.letThrough === 1);
    await controller.stop();
  });

  it('says more in its mark: it is refused', async (t) => {
    const { world, controller } = await holding(t, 'kept');
    changeMarks(world, (body) =>
      body.replace('"type":"DisruptionTarget"', '"observedGeneration":1,"type":"DisruptionTarget"'),
    );
    upset(world);
    await assertSpared(world, 'kept');
    await controller.stop();
  });
});

describe('taintmgr', () => {
  it('is upgraded: the policies of the version before are put right', async (t) => {
    const { world, controller } = await holding(t, 'kept', {
      before: (one) => {
        one.installPolicies();
        const { metadata, ...rest } = structuredClone(policyIn(one));
        const old = { ...metadata, annotations: { [takeoverVersionAnnotation]: '0' } };
        rest.spec.matchConditions = rest.spec.matchConditions.slice(1);
        one.api.update(policies, { ...rest, metadata: old });
      },
    });
    const { annotations } = policyIn(world).metadata;
    assert.equal(annotations?.[takeoverVersionAnnotation], '4');
    assert.match(
      controller.lines.map(({ drift }) => String(drift ?? '')).join(),
      /metadata\.annotations\[taintmgr\.dev\/takeover-version\] is "0", not "4"/,
    );
    upset(world);
    await assertSpared(world, 'kept');
    await world.until(() => published(world).takeover?.policyVersion === '4');
    await controller.stop();
  });

  it('may not mend policies of another version: it goes on beside them, and begins with none', async (t) => {
    const rule = (verbs: readonly string[], ...apiGroups: readonly string[]): Rule => {
      return { verbs, apiGroups, resources: ['*'] };
    };
    const world = await TakeoverWorld.start(t, {
      controller: [
        rule(['*'], '', 'coordination.k8s.io', 'taintmgr.dev', 'policy', 'authentication.k8s.io'),
        rule(['get'], 'admissionregistration.k8s.io'),
      ],
    });
    world.pod('in', 'held');
    pause(world);
    world.installPolicies();
    const first = await startController(t, world);
    await begun(world, first, 'held');
    const { metadata, ...rest } = structuredClone(policyIn(world));
    const annotations = { ...metadata.annotations, [takeoverVersionAnnotation]: '5' };
    world.api.update(policies, { ...rest, metadata: { ...metadata, annotations } });
    const isSaid = (): boolean => {
      const { drift = [] } = published(world).takeover ?? {};
      return drift.join().includes('cannot patch resource "validatingadmissionpolicies"');
    };
    await first.saw('an object of takeover was changed, repairing it', {
      drift:
        'validatingadmissionpolicy/taintmgr-takeover: metadata.annotations[taintmgr.dev/takeover-version] is "5", not "4"',
    });
    await world.until(isSaid);
    assert.equal(published(world).takeover?.enabled, true);
    upset(world);
    await assertSpared(world, 'held');
    await first.stop();
    const second = await startController(t, world);
    await world.until(() => published(world).takeover?.enabled === false);
    assert.ok(isSaid());
    await restartManager(world);
    await world.deleted('in', 'held');
    assert.equal(evictions(world).length, 0);
    await second.stop();
  });

  it('loses the kind of its heartbeat: nothing is refused until it is there again', async (t) => {
    const { world, controller } = await holding(t, 'first');
    world.api.delete('customresourcedefinitions', '', definition);
    await world.untilPolicies(false, 'first');
    upset(world);
    await world.deleted('in', 'first');
    await controller.saw('status is not published: the cluster has no TaintManager kind', {
      again: 'the next heartbeat',
    });
    world.taint(false);
    world.pod('in', 'second');
    await world.installKinds();
    await controller.saw('publishing status', {}, 2);
    await world.untilPolicies(true, 'second');
    world.taint();
    await assertSpared(world, 'second');
    assert.equal(evictions(world).length, 0);
    await controller.stop();
  });
});
