import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TakeoverCheckers } from '../../src/takeover/takeover-checkers.ts';
import { Scenario } from '../world/lifecycle-scenario.ts';
import { group, installOwnKinds } from '../world/own-kinds.ts';

// Whether a client holds readiness when nodes fall silent, beside a kube-controller-manager that does not.

const managers = `/apis/${group}/v1alpha1/taintmanagers`;
const beatSeconds = 10;

/** Two zones of two nodes, and a client that hears everything and writes its heartbeat. */
class Fading {
  readonly #scenario = new Scenario({ a: 2, b: 2 });
  readonly #checkers: TakeoverCheckers;
  /** Its heartbeats say that it decides. */
  decides = true;
  #at = 20;

  constructor(holdsFullDisruption = false) {
    const { api, checkers } = this.#scenario;
    this.#checkers = new TakeoverCheckers(api, checkers.apiHistory, holdsFullDisruption);
    installOwnKinds(api);
    this.#scenario.at(10);
    for (const path of ['/api/v1/namespaces', `/apis/${group}/v1alpha1/evictionpauses`]) {
      this.#scenario.send('GET', path);
      this.#scenario.send('GET', `${path}?watch=true`);
    }
    const head = { apiVersion: `${group}/v1alpha1`, kind: 'TaintManager' };
    this.#scenario.send('POST', managers, { ...head, metadata: { name: 'taintmgr' } });
    this.beat(40);
  }

  /** Writes heartbeats for so many seconds, which say this of readiness. */
  beat(seconds: number, holdReadiness?: object): void {
    for (const end = this.#at + seconds; this.#at < end; this.#at += beatSeconds) {
      this.#scenario.at(this.#at);
      const { api } = this.#scenario;
      const renewTime = new Date(api.clock.now()).toISOString();
      const takeover = { enabled: this.decides, ...(holdReadiness && { holdReadiness }) };
      const found = this.#scenario.api.get(`taintmanagers.${group}`, '', 'taintmgr');
      const status = { renewTime, takeover };
      this.#scenario.write('PUT', `${managers}/taintmgr/status`, { ...found, status });
    }
  }

  stop(...names: readonly string[]): void {
    for (const name of names) this.#scenario.cluster.node(name).stop();
  }

  get found(): readonly string[] {
    return this.#checkers.violations.map(({ evidence, invariant }) => {
      assert.equal(invariant, 'readiness not held in doubt');
      return /sent \S+, (.*?)(?: last heard.*)?: null/.exec(evidence)?.[1] ?? evidence;
    });
  }
}

const all = { all: true, zones: [], nodes: [] };

describe('readiness', () => {
  it('is to be held when most nodes fall silent at once, for a minute', () => {
    const fading = new Fading();
    fading.stop('a-1', 'a-2', 'b-1');
    fading.beat(20);
    assert.deepEqual(fading.found, []);
    fading.beat(300);
    assert.deepEqual([...new Set(fading.found)], ['3 nodes were']);
    assert.ok(fading.found.length >= 3 && fading.found.length <= 6, `${fading.found.length}`);
    const held = new Fading();
    held.stop('a-1', 'a-2', 'b-1');
    held.beat(20);
    held.beat(80, all);
    held.beat(100);
    assert.deepEqual(held.found, []);
  });

  it('need not be when few do, or one after the other', () => {
    const fading = new Fading();
    fading.stop('a-1', 'a-2');
    fading.beat(60);
    fading.stop('b-1');
    fading.beat(120);
    assert.deepEqual(fading.found, []);
  });

  it('need not be by heartbeats that do not decide', () => {
    const fading = new Fading();
    fading.stop('a-1', 'a-2', 'b-1', 'b-2');
    fading.decides = false;
    fading.beat(100);
    assert.deepEqual(fading.found, []);
    fading.decides = true;
    fading.beat(10);
    assert.deepEqual(fading.found, ['no node is up']);
  });

  it('is to be held for as long as no node is up', () => {
    const fading = new Fading();
    fading.stop('a-1', 'a-2', 'b-1', 'b-2');
    fading.beat(20);
    fading.beat(200, all);
    assert.deepEqual(fading.found, []);
    fading.beat(10);
    assert.deepEqual(fading.found, ['no node is up']);
  });

  it('is to be held in a zone that is down, where zones are held', () => {
    for (const holds of [true, false]) {
      const fading = new Fading(holds);
      fading.stop('a-1', 'a-2');
      fading.beat(20);
      fading.beat(30, { all: false, zones: ['r/a'], nodes: [] });
      fading.beat(30, { all: false, zones: [], nodes: ['a-1', 'a-2'] });
      assert.deepEqual(fading.found, []);
      fading.beat(10);
      assert.deepEqual(fading.found, holds ? ['zone r/a is down'] : []);
    }
  });
});
