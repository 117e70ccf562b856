import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { keyOf } from '../../src/controllers/pods.ts';
import { Placement } from '../../src/scheduler/placement.ts';
import { schedulingPod } from '../../src/scheduler/scheduling-pod.ts';
import { PlayedCase, type SchedulingCase } from '../conformance/scheduling-case.ts';

// The scores that kube-scheduler 1.36.2 wrote into its log.

type Scores = Readonly<Record<string, Readonly<Record<string, number>>>>;

interface Recorded extends SchedulingCase {
  readonly name: string;
  readonly expected: { readonly scores?: Scores };
}

/** What is the same for all nodes, where a plugin has nothing to say of a pod. */
const silent: Readonly<Record<string, number>> = { TaintToleration: 300 };

/** The scores of the nodes on which the new pod of a case fits. */
function scoresIn(given: Recorded): ReadonlyMap<string, Readonly<Record<string, number>>> {
  const played = new PlayedCase(given, 1);
  const { objects } = played;
  const placement = new Placement({ objects, seed: 1 });
  for (const one of objects.list('nodes')) placement.setNode(one);
  for (const one of objects.list('pods')) placement.setPod(keyOf(one), one);
  played.play();
  const pod = played.find(given.pod) ?? assert.fail('the pod is gone');
  const { nodeName: _, ...spec } = pod.spec;
  const { names, of } = placement.scores(schedulingPod('', { ...pod, spec }));
  return new Map(
    names.map((name, at) => [
      name,
      Object.fromEntries(of.map(({ plugin, scores }) => [plugin, scores[at] ?? 0])),
    ]),
  );
}

describe('nodes are scored as recorded', () => {
  const file = new URL('../testdata/vectors/scheduler-filter.jsonl', import.meta.url);
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const given: Recorded = JSON.parse(line);
    const { scores } = given.expected;
    if (!scores) continue;
    it(given.name, () => {
      const found = scoresIn(given);
      assert.deepEqual([...found.keys()].sort(), Object.keys(scores).sort());
      for (const [name, expected] of Object.entries(scores)) {
        const { total: _, ...plugins } = expected;
        const got = Object.keys(plugins).map((plugin) => [
          plugin,
          found.get(name)?.[plugin] ?? silent[plugin] ?? 0,
        ]);
        assert.deepEqual(Object.fromEntries(got), plugins, name);
      }
    });
  }
});
