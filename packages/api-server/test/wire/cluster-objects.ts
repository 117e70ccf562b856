import { caseIn, type WireCases } from './case.ts';

const summed = 'the recording sums the answer up';

/** ConfigMaps and Services. */
export const clusterObjectCases: WireCases = {
  '13-cluster-objects/configmaps': caseIn('wire-obj', undefined, {
    without: { 11: 'the real server lists the keys of a map in any order', 19: summed },
  }),
  '13-cluster-objects/serviceaccounts': caseIn(
    'wire-obj',
    ({ api }) => {
      api.create('serviceaccounts', { metadata: { name: 'default', namespace: 'wire-obj' } });
    },
    { without: { 1: 'the age differs', 3: 'a token is never the same' } },
  ),
  '13-cluster-objects/services': caseIn('wire-obj', undefined, {
    without: { 3: summed, 10: summed },
  }),
};
