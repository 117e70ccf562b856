import { caseIn, type WireCase, type WireCases } from './case.ts';
import type { Hand } from './hand.ts';

const deletes = (prepare: (hand: Hand) => void): WireCase => caseIn('wire-delete', prepare);

/** Graceful and other deletion. */
export const deleteCases: WireCases = {
  '05-delete/bound-pod': deletes((hand) => void hand.pod('b-1', { nodeName: 'x' })),
  '05-delete/delete-collection': deletes((hand) => {
    const labels = { dc: 'a' };
    hand.pod('c-1', {}, { labels });
    hand.pod('c-2', {}, { labels });
    hand.pod('c-3', { nodeName: 'x' }, { labels });
    hand.pod('c-4');
  }),
  '05-delete/finalizers': deletes((hand) => {
    const finalizers = ['wire.test/hold'];
    for (const name of ['f-1', 'f-2']) hand.pod(name, { nodeName: 'x' }, { finalizers });
    hand.node('wire-d6', {}, { finalizers });
  }),
  '05-delete/grace-variants': deletes((hand) => {
    for (const name of ['g-1', 'g-2', 'g-3']) hand.pod(name, { nodeName: 'x' });
    hand.pod('g-4', { nodeName: 'x', terminationGracePeriodSeconds: 0 });
    for (const phase of ['Succeeded', 'Failed', 'Running']) {
      const name = `g-${phase.toLowerCase()}`;
      hand.pod(name, { nodeName: 'x' });
      hand.podStatus(name, { phase });
    }
  }),
  '05-delete/options': deletes((hand) => {
    hand.pod('o-1', { nodeName: 'x' });
    for (const name of ['wire-d1', 'wire-d4', 'wire-d5']) hand.node(name);
  }),
  '05-delete/other-kinds': {
    ...deletes((hand) => {
      const namespace = 'wire-delete';
      hand.node('wire-d2');
      hand.api.create('leases', { metadata: { name: 'l', namespace } });
      hand.api.create('poddisruptionbudgets', { metadata: { name: 'b', namespace } });
      hand.api.create('events', {
        metadata: { name: 'e', namespace },
        involvedObject: { namespace },
      });
    }),
    without: { 7: 'a stream' },
  },
  '05-delete/preconditions': deletes((hand) => {
    hand.pod('p-1', { nodeName: 'x' });
    hand.node('wire-d1');
  }),
  '05-delete/unbound-pod': deletes((hand) => {
    hand.pod('u-1');
    hand.pod('u-2');
  }),
};
