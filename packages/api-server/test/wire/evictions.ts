import { caseIn, type WireCase, type WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const evictions = (prepare: (hand: Hand) => void, rest: Partial<WireCase> = {}): WireCase =>
  caseIn('wire-evict', prepare, rest);

const one = { minAvailable: 1 };

/** Evictions and the budgets that judge them. */
export const evictionCases: WireCases = {
  '06-eviction/dry-run': evictions((hand) => void hand.running('d-1'), {
    before: {
      4: (hand) => hand.budget('b', one, {}),
      5: (hand) => hand.budgetStatus('b', { disruptionsAllowed: 1 }),
    },
  }),
  '06-eviction/errors': {
    namespace: 'wire-evict',
    prepare: (hand) => ({ '<uid-2>': hand.running('e-1') }),
  },
  '06-eviction/pdb-blocked': evictions(
    (hand) => {
      hand.running('k-1');
      hand.budget('web-pdb', one, {});
    },
    {
      before: {
        2: (hand) => {
          const message = 'found no controllers for pod "k-1"';
          const failed = {
            type: 'DisruptionAllowed',
            status: 'False',
            reason: 'SyncFailed',
            message,
          };
          hand.budgetStatus('web-pdb', { conditions: [failed] });
        },
      },
    },
  ),
  '06-eviction/pdb-consume': evictions((hand) => {
    hand.running('c-1');
    hand.running('c-2');
    hand.budget('b', one, { currentHealthy: 2, expectedPods: 2, disruptionsAllowed: 1 });
  }),
  '06-eviction/pdb-crud': { namespace: 'wire-evict' },
  '06-eviction/pdb-ignored': evictions((hand) => {
    for (const phase of ['Succeeded', 'Failed', 'Pending']) {
      const name = `i-${phase.toLowerCase()}`;
      hand.pod(name, { nodeName: 'x' }, { labels: { app: 'x' } });
      hand.podStatus(name, { phase });
    }
    hand.running('i-term');
    hand.api.delete('pods', 'wire-evict', 'i-term');
    hand.pod('i-other', { nodeName: 'x' });
    hand.podStatus('i-other', { phase: 'Running' });
    hand.budget('b', one, {});
  }),
  '06-eviction/pdb-multiple': evictions((hand) => {
    hand.running('m-1');
    hand.budget('b-1', one, { disruptionsAllowed: 5 });
    hand.budget('b-2', one, { disruptionsAllowed: 5 });
  }),
  '06-eviction/pdb-selectors': evictions(
    (hand) => {
      hand.running('q-1');
      hand.budget('all', { ...one, selector: {} }, {});
    },
    {
      before: {
        1: (hand) => {
          hand.removeBudgets();
          hand.budget('none', { ...one, selector: undefined }, {});
        },
        2: (hand) => {
          hand.removeBudgets();
          const matchExpressions = [{ key: 'app', operator: 'In', values: ['x', 'y'] }];
          hand.budget('exp', { ...one, selector: { matchExpressions } }, {});
        },
      },
    },
  ),
  '06-eviction/pdb-stale': evictions(
    (hand) => {
      hand.running('t-1');
      hand.budget('fresh', one, null);
    },
    {
      before: {
        2: (hand) => {
          hand.budgetStatus('fresh', { disruptionsAllowed: 1 });
          hand.budgetSpec('fresh', { minAvailable: 0 });
        },
      },
    },
  ),
  '06-eviction/success': evictions(
    (hand) => {
      for (const name of ['s-1', 's-2', 's-3']) hand.running(name);
    },
    { without: { 3: 'a stream' } },
  ),
  '06-eviction/unhealthy-policy': evictions(
    (hand) => {
      hand.running('h-1', false);
      hand.running('h-2');
      hand.budget('dflt', one, { currentHealthy: 0 });
    },
    {
      before: {
        1: (hand) => hand.budgetStatus('dflt', {}),
        2: (hand) => hand.budgetStatus('dflt', { currentHealthy: 0, desiredHealthy: 0 }),
        3: (hand) => {
          hand.removeBudgets();
          const policy = { unhealthyPodEvictionPolicy: 'IfHealthyBudget' };
          hand.budget('ifh', { ...one, ...policy }, { currentHealthy: 0 });
        },
        4: (hand) => {
          hand.removeBudgets();
          const policy = { unhealthyPodEvictionPolicy: 'AlwaysAllow' };
          hand.budget('always', { ...one, ...policy }, { currentHealthy: 0 });
        },
      },
    },
  ),
};
