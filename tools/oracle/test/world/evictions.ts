import { Checkers } from '../../src/checkers.ts';
import { evictionDefaults, type Terms } from '../../src/terms.ts';
import { brokenIn, Scenario } from './lifecycle-scenario.ts';

export const bad = { key: 'bad', effect: 'NoExecute' };

/** A node with two pods that somebody taints, and a client that makes pods leave. */
export class Evictions {
  readonly scenario = new Scenario({ a: 2 });
  readonly checkers: Checkers;

  constructor(terms: Partial<Terms> = {}) {
    const { api, checkers } = this.scenario;
    this.checkers = new Checkers(api, { ...evictionDefaults, ...terms }, checkers.apiHistory);
    for (const name of ['p', 'q']) this.scenario.addPod('a-1', name);
    this.scenario.at(20);
    const { resourceVersion: _, ...metadata } = this.scenario.node('a-1').metadata;
    api.update('nodes', { ...this.scenario.node('a-1'), metadata, spec: { taints: [bad] } });
    this.scenario.at(21);
  }

  remove(name: string, options: object = {}): void {
    const { uid } = this.scenario.api.get('pods', 'default', name)?.metadata ?? {};
    const body = { preconditions: { uid }, ...options };
    this.scenario.write('DELETE', `/api/v1/namespaces/default/pods/${name}`, body);
  }

  get broken(): readonly string[] {
    this.checkers.atEnd();
    return brokenIn(this.checkers.violations);
  }
}
