import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { plainDrainSpec } from '@taintmgr/core/policy';
import { formatDeadline } from '@taintmgr/core/time';
import { stateBlock, stateLine, stateOf } from '../../../src/commands/drain-by-taint/progress.ts';
import { plain } from '../../../src/render/style.ts';
import { blocked, Drain, night, refusal, web } from '../../world/progressing-drain.ts';
import { now, pod, tolerates } from '../../world/values.ts';

describe('the progress of a drain', () => {
  it('gives a line for each pod that went and each node that is done', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', { kind: 'done' });
    drain.gone(web, now + 3210);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 evicted (shop, n1, 3.2s)\nnode/n1 drained (1 pod, 3s)\n',
    );
  });

  it('says when a pod was deleted, and when it went by itself', () => {
    const other = pod('db-0', { deletionTimestamp: now });
    const drain = new Drain([web, other], {
      budgets: { policy: 'Ignore' },
      leaving: new Set([other.uid]),
    });
    drain.answer('web-0', { kind: 'done' }, now + 50);
    drain.gone(web, now + 100);
    drain.gone(other, now + 200);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 deleted (shop, n1, 0.1s)\npod/db-0 gone (shop, n1)\n' +
        'node/n1 drained (2 pods, 0s)\n',
    );
  });

  it('says who deleted a pod where that was not our doing, and how many those were', () => {
    const mark = { reason: 'DeletionByTaintManager', manager: null };
    const [api, db] = [pod('api-0'), pod('db-0', tolerates('maintenance', 60))];
    const drain = new Drain([web, api, db], {
      taint: { key: 'maintenance', value: 'kernel', effect: 'NoSchedule' },
    });
    drain.answer('web-0', { kind: 'done' });
    drain.answer('api-0', blocked);
    drain.gone(web, now + 1000);
    drain.gone(api, now + 1000);
    drain.feed({ kind: 'podUpsert', pod: { ...db, disruption: mark } }, now + 2000);
    drain.gone(db, now + 3000);
    assert.equal(
      drain.output.outText,
      'node/n1 already tainted\npod/web-0 evicted (shop, n1, 1.0s)\n' +
        'pod/api-0 gone (deleted by another program; shop, n1)\n' +
        'pod/db-0 gone (deleted by kube-controller-manager; shop, n1)\n' +
        'node/n1 drained (3 pods, 2 of them deleted by other programs, 3s)\n',
    );
  });

  it('takes no pod for deleted by other programs that its restarted Deployment has replaced', () => {
    const pods = { ...plainDrainSpec.pods, singleReplicas: 'RolloutRestart' } as const;
    const drain = new Drain([{ ...web, ready: 'True' }], { pods });
    drain.answer('web-0', { kind: 'done' });
    drain.feed({ kind: 'podUpsert', pod: { ...web, deletionTimestamp: now + 2000 } }, now + 1000);
    drain.gone(web, now + 2000);
    assert.match(
      drain.output.outText,
      /pod\/web-0 gone \(another pod was started in its place; shop, n1\)\nnode\/n1 drained \(1 pod, 2s\)\n$/,
    );
  });

  it('says for each pod once what holds it, and again when that changes', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', blocked);
    drain.feed({ kind: 'tick' }, now + 5000);
    drain.answer('web-0', blocked, now + 5000);
    drain.feed({ kind: 'tick' }, now + 10_000);
    const message = 'boom\n';
    drain.answer('web-0', { kind: 'failed', status: 500, message, retryAfter: null }, now + 10_000);
    assert.equal(
      drain.output.errText,
      `Warning: shop/web-0 on n1 is blocked: ${refusal}\n` +
        'Warning: shop/web-0 on n1 could not be evicted: boom^J\n',
    );
  });

  it('warns once of a budget, however many pods it holds, and with which counts', () => {
    const drain = new Drain([web, pod('web-1'), pod('web-2')]);
    const other = { ...blocked, message: refusal.replace('needs 2', 'needs 3') } as const;
    for (const name of ['web-0', 'web-1', 'web-2']) drain.answer(name, blocked);
    drain.feed({ kind: 'tick' }, now + 5000);
    for (const name of ['web-0', 'web-1', 'web-2']) drain.answer(name, other, now + 5000);
    assert.equal(drain.output.errText, `Warning: shop/web-0 on n1 is blocked: ${refusal}\n`);
    assert.match(stateLine(stateOf(now, drain.machine)), /3 blocked by PDB web/);
  });

  it('warns of no pod that a pause holds: the counts name the pause', () => {
    const drain = new Drain([web]);
    drain.answer('web-0', blocked);
    drain.feed({ kind: 'pauseUpsert', pause: night });
    drain.feed({ kind: 'tick' }, now + 5000);
    drain.progress.holds(new Map(), drain.machine);
    assert.equal(drain.output.errText, `Warning: shop/web-0 on n1 is blocked: ${refusal}\n`);
    assert.match(stateLine(stateOf(now, drain.machine)), /1 held by pause night/);
  });

  it('says once that the connection is lost, however many pods that concerns', () => {
    const message = 'connect ECONNREFUSED 127.0.0.1:6443';
    const drain = new Drain([web]);
    drain.progress.reconnected();
    drain.progress.disconnected(message);
    drain.answer('web-0', { kind: 'failed', status: null, message, retryAfter: null });
    drain.progress.reconnected();
    drain.progress.reconnected();
    assert.equal(
      drain.output.errText,
      `Warning: lost connection to the API server, retrying: ${message}\n` +
        'reconnected to the API server\n',
    );
  });

  it('says what came late and stays, what vanished, and what is not waited for', () => {
    const timeouts = { ...plainDrainSpec.timeouts, terminatingPods: 1000 };
    const old = pod('old', { deletionTimestamp: now - 60_000 });
    const drain = new Drain([web, old, pod('x', { nodeName: 'n2' })], { timeouts });
    drain.feed({ kind: 'podUpsert', pod: pod('bare', { owner: null }) });
    drain.feed({ kind: 'nodeDelete', name: 'n2' });
    assert.equal(
      drain.output.outText,
      'pod/old skipped (shop, n1, terminating for too long)\n' +
        'node/n1 already tainted\nnode/n2 already tainted\n',
    );
    assert.equal(
      drain.output.errText,
      'Warning: shop/bare on n1 arrived after the drain started and stays: is not managed by a controller (--force)\n' +
        'Warning: node n2 was deleted\n',
    );
  });

  const many = [
    pod('a', tolerates('maintenance', 90)),
    pod('b', tolerates('maintenance', 30)),
    pod('c'),
    pod('d'),
    pod('e', { nodeName: 'n2', deletionTimestamp: now }),
  ];

  it('counts pods, node by node', () => {
    const drain = new Drain(many);
    drain.answer('c', blocked);
    const state = stateOf(now + 2000, drain.machine);
    const clock = formatDeadline(now + 91_000).slice(11, 16);
    const end = `done not before 1m29s: shop/a tolerates the taint until ${clock} UTC`;
    assert.equal(
      stateLine(state),
      '0 of 2 nodes, 0 of 5 pods gone; on n1 (0 of 4 pods), n2 (0 of 1 pod); ' +
        '2 waiting for tolerations to expire (next in 29s); 1 being evicted; 1 terminating; ' +
        `1 blocked by PDB web (for 2s); ${end}`,
    );
    assert.equal(
      stateBlock(state, 60, plain),
      [
        '[------------------------] 0 of 2 nodes, 0 of 5 pods gone',
        '  on n1 (0 of 4 pods), n2 (0 of 1 pod)',
        '  2 waiting for tolerations to expire (next in 29s)',
        '  1 being evicted',
        '  1 terminating',
        '  1 blocked by PDB web (for 2s)',
        '  done not before 1m29s: shop/a tolerates the taint until',
        `    ${clock} UTC`,
      ].join('\n'),
    );
    const one = new Drain([web]);
    one.answer('web-0', { kind: 'done' });
    one.gone(web);
    assert.equal(stateLine(stateOf(now, one.machine)), '1 of 1 pod gone');
  });

  it('draws nodes where no pod has to go', () => {
    const none = stateOf(now, new Drain([]).machine);
    assert.equal(
      stateBlock(none, 60, plain).split('\n')[0],
      '[------------------------] 0 of 0 nodes, 0 of 0 pods gone',
    );
  });

  it('says when it ends, by deadlines and by its pace, or what must be done first', () => {
    const endOf = (drain: Drain, after: number): string => stateOf(now + after, drain.machine).end;
    const patient = new Drain([pod('a', tolerates('maintenance', 90)), pod('b')]);
    const until = formatDeadline(now + 91_000).slice(11, 16);
    const tolerates90 = `shop/a tolerates the taint until ${until} UTC`;
    assert.equal(endOf(patient, 0), `done not before 1m31s: ${tolerates90}`);
    patient.answer('b', { kind: 'done' });
    patient.gone(pod('b'), now + 1000);
    assert.equal(endOf(patient, 10_000), `done in about 1m21s: ${tolerates90}`);
    const quick = new Drain([pod('a'), pod('b')]);
    assert.equal(endOf(quick, 2000), '');
    quick.answer('a', { kind: 'done' });
    quick.gone(pod('a'), now + 2000);
    assert.equal(endOf(quick, 2000), 'done in about 2s, at the pace so far');
    const slow = new Drain([pod('a'), pod('b')]);
    slow.answer('a', { kind: 'done' });
    slow.answer('b', blocked);
    slow.gone(pod('a'), now + 2000);
    assert.equal(endOf(slow, 2000), 'done not before 2s: some pods are blocked by PDB web');
    const stuck = new Map([[pod('b').uid, 'PDB web needs action']]);
    assert.equal(stateOf(now, quick.machine, stuck).end, 'end unknown: PDB web needs action');
  });

  it('says so every 30 s, or live where somebody watches', () => {
    const drain = new Drain([web]);
    for (let second = 1; second <= 61; second++) {
      drain.progress.showCounts(now + second * 1000, drain.machine);
    }
    assert.equal(drain.output.errText, '0 of 1 pod gone; 1 being evicted\n'.repeat(2));
    const watched = new Drain([web], {}, true);
    watched.progress.showCounts(now, watched.machine);
    assert.deepEqual(watched.output.shown, [
      '[------------------------] 0 of 1 pod gone\n  1 being evicted',
    ]);
    assert.equal(watched.output.errText, '');
  });
});
