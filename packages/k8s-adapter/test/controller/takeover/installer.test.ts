import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ApiServer } from '@taintmgr/api-server';
import { type KubeObject, seededRandom, VirtualClock } from '@taintmgr/sim-cluster';
import {
  type InstallerEffect,
  PolicyInstaller,
} from '../../../src/controller/takeover/installer.ts';
import { driftText } from '../../../src/controller/takeover/notice.ts';
import type { ApiRequest } from '../../../src/proto/requests.ts';

// The installer of the policies against the simulated API, request by request.

const start = Date.parse('2026-01-01T00:00:00Z');
const policies = 'validatingadmissionpolicies';
const bindings = 'validatingadmissionpolicybindings';
const user = 'system:serviceaccount:taintmgr-system:taintmgr-controller';
const installed = [
  'installed validatingadmissionpolicy/taintmgr-takeover',
  'installed validatingadmissionpolicy/taintmgr-readiness',
  'installed validatingadmissionpolicybinding/taintmgr-takeover',
  'installed validatingadmissionpolicybinding/taintmgr-readiness',
  'in force',
];

type Meddle = (request: ApiRequest) => Partial<{ status: number; body: object }> | null;

/** The installer and an API server on one clock. */
class Stage {
  readonly clock = new VirtualClock(start);
  readonly api: ApiServer;
  readonly installer: PolicyInstaller;
  readonly requests: string[] = [];
  leads = true;
  meddle: Meddle = () => null;

  constructor() {
    const everything = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }];
    const tokens = new Map([['t', { name: user, groups: [], rules: everything }]]);
    this.api = new ApiServer({ clock: this.clock, random: seededRandom(1), tokens });
    this.installer = new PolicyInstaller({
      ...{ manager: 'taintmgr', random: () => 0, leads: () => this.leads },
    });
  }

  lead(held = true): string[] {
    return this.#play(this.installer.lead(this.clock.now(), held));
  }

  /** Lets so much time pass, in seconds. */
  pass(seconds: number): string[] {
    const said: string[] = [];
    const end = this.clock.now() + seconds * 1000;
    for (;;) {
      const wake = this.installer.nextWake();
      if (wake === null || wake > end) break;
      this.clock.advanceTo(Math.max(wake, this.clock.now()));
      said.push(...this.#play(this.installer.tick(this.clock.now())));
    }
    this.clock.advanceTo(end);
    return said;
  }

  policy(name = 'taintmgr-takeover'): KubeObject {
    return this.api.get(policies, '', name) ?? assert.fail(`there is no ${name}`);
  }

  edit(change: (spec: Record<string, unknown>) => void): void {
    const one = structuredClone(this.policy());
    change(one.spec);
    this.api.as('kubectl-edit').update(policies, one);
  }

  #play(effects: readonly InstallerEffect[]): string[] {
    return effects.flatMap((effect) => {
      if (effect.kind === 'event') return [`event ${effect.event.reason} ${effect.event.message}`];
      if (effect.kind === 'notice') return [say(effect.notice)];
      if (effect.kind === 'abort') return [`abort ${effect.id}`];
      return this.#answer(effect.id, effect.request);
    });
  }

  #answer(id: string, request: ApiRequest): string[] {
    const now = this.clock.now();
    const path = request.path.replace(/^.*\//, '').replace(/\?.*/, '');
    const { method, headers, body } = request;
    this.requests.push(`${method} ${path}`);
    const meddled = this.meddle(request);
    let [status, text] = [meddled?.status ?? 0, JSON.stringify(meddled?.body ?? {})];
    if (meddled === null) {
      this.api.exchange(
        { method, path: request.path, body, headers: { ...headers, authorization: 'Bearer t' } },
        {
          head: (code) => {
            status = code;
          },
          data: (chunk) => {
            text = text === '{}' ? String(chunk) : text + String(chunk);
          },
          end: () => {},
          reset: () => assert.fail('the connection broke'),
        },
      );
    }
    const parts = [
      { kind: 'head', id, status, headers: {} },
      { kind: 'chunk', id, data: new TextEncoder().encode(text) },
      { kind: 'end', id },
    ] as const;
    return parts.flatMap((part) => this.#play(this.installer.receive(now, part)));
  }
}

function say(notice: Extract<InstallerEffect, { kind: 'notice' }>['notice']): string {
  switch (notice.kind) {
    case 'takeoverInForce':
      return notice.isInForce ? 'in force' : 'not in force';
    case 'takeoverFault':
      return `fault ${notice.object}: ${notice.failure.message}`;
    case 'takeoverMended': {
      const left = notice.left.length > 0 ? `, left: ${driftText(notice.left)}` : '';
      return `${notice.isNew ? 'installed' : 'mended'} ${notice.object}${left}`;
    }
    case 'takeoverContested':
      return `contested ${driftText(notice.drift)}`;
    case 'takeoverDrift':
      return `drift ${driftText(notice.drift)}`;
  }
}

describe('the installer of the policies', () => {
  it('installs them for the user that it is, and finds them as they should be', () => {
    const stage = new Stage();
    assert.deepEqual(stage.lead(), installed);
    const text = JSON.stringify(stage.policy().spec);
    assert.ok(text.includes(user), text);
    const [entry] = stage.policy().metadata.managedFields ?? [];
    assert.equal(entry?.manager, 'taintmgr-takeover');
    assert.equal(entry?.operation, 'Apply');
    assert.deepEqual(stage.installer.state, {
      ...{ isInForce: true, wasInForce: true },
      drift: [],
      fault: null,
    });
    const before = stage.requests.length;
    assert.deepEqual(stage.pass(15), []);
    assert.deepEqual(stage.requests.slice(before), [
      'GET taintmgr-takeover',
      'GET taintmgr-readiness',
      'GET taintmgr-takeover',
      'GET taintmgr-readiness',
    ]);
  });

  it('mends what somebody edits, and says so, within 15 s', () => {
    const stage = new Stage();
    stage.lead();
    stage.edit((spec) => {
      spec.failurePolicy = 'Fail';
    });
    const drift =
      'validatingadmissionpolicy/taintmgr-takeover: spec.failurePolicy is "Fail", not "Ignore"';
    assert.deepEqual(stage.pass(15), [
      `drift ${drift}`,
      `event TakeoverPolicyChanged mending it: ${drift}`,
      'mended validatingadmissionpolicy/taintmgr-takeover',
    ]);
    assert.equal(stage.policy().spec.failurePolicy, 'Ignore');
    assert.equal(stage.installer.state.isInForce, true);
  });

  it('replaces what somebody added, which apply leaves to him', () => {
    const stage = new Stage();
    stage.lead();
    stage.edit((spec) => {
      const conditions = spec.matchConditions as object[];
      spec.matchConditions = [...conditions, { name: 'mine', expression: 'false' }];
    });
    const before = stage.requests.length;
    assert.equal(stage.pass(15).at(-1), 'mended validatingadmissionpolicy/taintmgr-takeover');
    assert.deepEqual(stage.requests.slice(before, before + 3), [
      'GET taintmgr-takeover',
      'PATCH taintmgr-takeover',
      'PATCH taintmgr-takeover',
    ]);
    assert.ok(!JSON.stringify(stage.policy().spec).includes('mine'));
    assert.deepEqual(stage.pass(60), []);
  });

  it('replaces what apply cannot mend, as together with ours it may not be', () => {
    const stage = new Stage();
    stage.lead();
    const path = 'taintmgr-takeover';
    const found = stage.api.get(bindings, '', path) ?? assert.fail('there is no binding');
    const spec = { ...found.spec, validationActions: ['Warn'] };
    stage.api.as('kubectl-edit').update(bindings, { ...found, spec });
    const name = `validatingadmissionpolicybinding/${path}`;
    const what = `${name}: spec.validationActions[0] is "Warn", not "Deny"`;
    assert.deepEqual(stage.pass(15), [
      `drift ${what}`,
      `event TakeoverPolicyChanged mending it: ${what}`,
      `mended ${name}`,
    ]);
    assert.deepEqual(stage.api.get(bindings, '', path)?.spec.validationActions, ['Deny']);
    assert.equal(stage.installer.state.isInForce, true);
  });

  it('says once what it cannot mend, and that the policies do not stand', () => {
    const stage = new Stage();
    stage.lead();
    stage.edit((spec) => {
      spec.failurePolicy = 'Fail';
    });
    stage.meddle = ({ method }) => (method === 'PATCH' ? { status: 422 } : null);
    const said = stage.pass(120);
    const drifts = said.filter((one) => one.startsWith('drift') || one.startsWith('event'));
    assert.equal(drifts.length, 2, said.join('\n'));
    assert.deepEqual(
      said.filter((one) => one.endsWith('in force')),
      ['not in force'],
    );
    const { isInForce, wasInForce, fault } = stage.installer.state;
    assert.deepEqual([isInForce, wasInForce], [false, true]);
    assert.match(fault ?? '', /^validatingadmissionpolicy\/taintmgr-takeover: HTTP status 422/);
    stage.meddle = () => null;
    const mended = 'mended validatingadmissionpolicy/taintmgr-takeover';
    assert.deepEqual(stage.pass(120), [mended, 'in force']);
    assert.equal(stage.installer.state.fault, null);
  });

  it('looks at nothing any more once it is stopped, and takes no answer in', () => {
    const stage = new Stage();
    stage.meddle = (request) => {
      stage.installer.stop();
      return { status: 200, body: { request } };
    };
    assert.deepEqual(stage.lead(), []);
    assert.equal(stage.installer.nextWake(), null);
    assert.deepEqual(stage.pass(60), []);
    assert.equal(stage.requests.length, 1);
  });

  it('installs again what somebody deleted', () => {
    const stage = new Stage();
    stage.lead();
    stage.api.delete(bindings, '', 'taintmgr-takeover');
    assert.deepEqual(stage.pass(15), [
      'drift validatingadmissionpolicybinding/taintmgr-takeover is missing',
      'event TakeoverPolicyChanged mending it: validatingadmissionpolicybinding/taintmgr-takeover is missing',
      'installed validatingadmissionpolicybinding/taintmgr-takeover',
    ]);
  });

  it('leaves what is changed again and again as it is, until there is room', () => {
    const stage = new Stage();
    stage.lead();
    const said: string[] = [];
    for (let look = 0; look < 8; look++) {
      stage.edit((spec) => {
        spec.failurePolicy = 'Fail';
      });
      said.push(...stage.pass(15));
    }
    const drift =
      'validatingadmissionpolicy/taintmgr-takeover: spec.failurePolicy is "Fail", not "Ignore"';
    // One of the five was the installation.
    assert.equal(said.filter((text) => text.startsWith('mended')).length, 4);
    assert.deepEqual(said.slice(-2), [`contested ${drift}`, 'not in force']);
    const held = { isInForce: false, wasInForce: true, fault: null };
    assert.deepEqual(stage.installer.state, { ...held, drift: [drift] });
    assert.deepEqual(stage.pass(450), []);
    assert.deepEqual(stage.pass(60).slice(-2), [
      'mended validatingadmissionpolicy/taintmgr-takeover',
      'in force',
    ]);
  });

  it('takes what a newer API server makes of them as it is, and says so once', () => {
    const stage = new Stage();
    stage.meddle = ({ method, path, body }) => {
      if (!path.includes(`${policies}/taintmgr-takeover`)) return null;
      const one = stage.api.get(policies, '', 'taintmgr-takeover');
      if (method === 'GET' && !one) return null;
      const sent = JSON.parse(body ?? '{}');
      const object = Array.isArray(sent) ? { ...one, spec: sent[0].value } : (one ?? sent);
      if (method !== 'GET' && !one) stage.api.create(policies, structuredClone(sent));
      return { status: 200, body: { ...object, spec: { ...object.spec, novelty: 'Always' } } };
    };
    const left =
      'validatingadmissionpolicy/taintmgr-takeover: spec.novelty is "Always", and should not be there';
    assert.deepEqual(stage.lead(), [
      `installed validatingadmissionpolicy/taintmgr-takeover, left: ${left}`,
      ...installed.slice(1),
    ]);
    const held = { isInForce: true, wasInForce: true, fault: null };
    assert.deepEqual(stage.installer.state, { ...held, drift: [left] });
    assert.deepEqual(stage.pass(60), []);
  });

  it('counts as not in force what an older API server leaves out of them, and says so once', () => {
    const stage = new Stage();
    let isOld = true;
    stage.meddle = ({ method, path, body }) => {
      if (!isOld || !path.includes(`${policies}/taintmgr-takeover`)) return null;
      const sent = JSON.parse(body ?? '{}');
      const one = stage.api.get(policies, '', 'taintmgr-takeover');
      if (method === 'GET' && !one) return null;
      const object = structuredClone(one ?? sent);
      delete object.spec.matchConditions;
      if (!one) stage.api.create(policies, object);
      return { status: 200, body: object };
    };
    const said = stage.lead();
    assert.match(
      said[0] ?? '',
      /taintmgr-takeover, left: .*spec\.matchConditions is missing, not \[/,
    );
    assert.deepEqual(said.slice(1), installed.slice(1, -1));
    const { isInForce, wasInForce, drift } = stage.installer.state;
    assert.deepEqual([isInForce, wasInForce, drift.length], [false, false, 1]);
    assert.deepEqual(stage.pass(60), []);
    // The API server is upgraded.
    isOld = false;
    const mended = 'mended validatingadmissionpolicy/taintmgr-takeover';
    assert.deepEqual(stage.pass(600), [mended, 'in force']);
    assert.deepEqual(stage.installer.state, { ...stage.installer.state, drift: [] });
  });

  it('says once what keeps it from looking, and tries again, less and less often', () => {
    const stage = new Stage();
    stage.meddle = ({ method }) =>
      method === 'PATCH' ? { status: 403, body: { message: 'not you' } } : null;
    const fault =
      'validatingadmissionpolicy/taintmgr-takeover: not you: install the manifests of takeover again, ' +
      'or give the rights of components/takeover-repair';
    assert.deepEqual(stage.lead(), [`fault ${fault}`]);
    assert.equal(stage.installer.state.fault, fault);
    const writesIn = (seconds: number): number => {
      const before = stage.requests.filter((one) => one.startsWith('PATCH')).length;
      assert.deepEqual(stage.pass(seconds), []);
      return stage.requests.filter((one) => one.startsWith('PATCH')).length - before;
    };
    assert.deepEqual([60, 60, 480].map(writesIn), [7, 4, 32]);
    stage.meddle = () => null;
    assert.deepEqual(stage.pass(601), installed);
  });

  it('keeps what it knew while the API server is away', () => {
    const stage = new Stage();
    stage.lead();
    stage.meddle = () => ({ status: 500, body: { message: 'boom' } });
    assert.deepEqual(stage.pass(20), ['fault validatingadmissionpolicy/taintmgr-takeover: boom']);
    assert.equal(stage.installer.state.isInForce, true);
    stage.meddle = () => null;
    assert.deepEqual(stage.pass(40), []);
    assert.equal(stage.installer.state.fault, null);
  });

  it('does nothing more when it leads no more, and deletes nothing', () => {
    const stage = new Stage();
    stage.lead();
    assert.equal(stage.installer.state.isInForce, true);
    assert.deepEqual(stage.lead(false), []);
    const unknown = { isInForce: false, wasInForce: false, drift: [], fault: null };
    assert.deepEqual(stage.installer.state, unknown, 'what it knew may be so no more');
    const before = stage.requests.length;
    assert.deepEqual(stage.pass(120), []);
    assert.equal(stage.requests.length, before);
    assert.equal(stage.api.list(policies).length, 2);
    stage.lead();
    stage.leads = false;
    assert.deepEqual(stage.pass(60), []);
    assert.deepEqual(
      stage.requests.filter((one) => one.startsWith('DELETE')),
      [],
    );
  });
});
