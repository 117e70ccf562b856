// Where Kubernetes' own tests are played: a cluster over HTTPS whose clock jumps, and our controller in it.
import assert from 'node:assert/strict';
import {
  createCertificate,
  type HttpsServer,
  ServedCluster,
  startHttps,
} from '@taintmgr/api-server';
import { createEngine } from '@taintmgr/core';
import { Loop, VirtualDriver } from '@taintmgr/k8s-adapter';
import { seededRandom, threeZones, VirtualClock, withSystemPods } from '@taintmgr/sim-cluster';

const start = Date.parse('2026-01-01T00:00:00Z');
const stepMs = 1000;
const idleStepsMax = 120;

export interface SuiteWorldOptions {
  /** As with `--system-pods`. */
  readonly systemPods: boolean;
}

/** The cluster of `--topology three-zones`, and a controller that evicts by DELETE. */
export class SuiteWorld {
  readonly cluster: ServedCluster;
  readonly ca: string;
  readonly #clock = new VirtualClock(start);
  readonly #driver: VirtualDriver;
  readonly #certificate = createCertificate(Date.now());
  #server: HttpsServer | null = null;

  constructor({ systemPods }: SuiteWorldOptions) {
    const { ca } = this.#certificate;
    const topology = systemPods ? withSystemPods(threeZones) : threeZones;
    const tokens = new Map([['T', { name: 'admin', groups: ['system:masters'], rules: [] }]]);
    const clock = this.#clock;
    this.ca = ca;
    this.cluster = new ServedCluster({ clock, seed: 1, topology, ca, apiServer: { tokens } });
    this.#driver = new VirtualDriver({
      loop: new Loop({ machine: createEngine({}), random: seededRandom(1), leases: false }),
      exchange: (request, sink) => {
        const headers = { ...request.headers, authorization: 'Bearer T' };
        return this.cluster.exchange({ ...request, headers }, sink);
      },
      clock,
      onNotice: () => {},
    });
  }

  /** Starts everything and waits for the nodes and their pods; returns where the API is. */
  async open(): Promise<string> {
    this.cluster.start();
    this.#driver.feed({ kind: 'start' });
    for (let step = 0; !this.cluster.isIdle(); step++) {
      assert.ok(step < idleStepsMax, 'the cluster does not come to rest');
      this.pass(stepMs);
    }
    this.#server = await startHttps({
      exchange: this.cluster.exchange,
      certificate: this.#certificate,
    });
    const { hostname, port } = new URL(this.#server.url);
    this.cluster.api.publish({ address: hostname, port: Number(port), ca: this.ca });
    return this.#server.url;
  }

  async close(): Promise<void> {
    this.cluster.stop();
    await this.#server?.close();
  }

  now(): number {
    return this.#clock.now();
  }

  pass(ms: number): void {
    this.#driver.runUntil(this.#clock.now() + ms);
  }
}
