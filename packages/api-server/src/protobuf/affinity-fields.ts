// The protobuf fields by which pods say where they want to be.
import { type Fields, labelSelector, pointer } from './fields.ts';

const requirement: Fields = { key: [1, 'string'], operator: [2, 'string'], values: [3, 'strings'] };
const nodeTerm: Fields = { matchExpressions: [1, [requirement]], matchFields: [2, [requirement]] };

const nodeAffinity = pointer({
  requiredDuringSchedulingIgnoredDuringExecution: [
    1,
    pointer({ nodeSelectorTerms: [1, [nodeTerm]] }),
  ],
  preferredDuringSchedulingIgnoredDuringExecution: [
    2,
    [{ weight: [1, 'integer'], preference: [2, nodeTerm] }],
  ],
});

const podTerm: Fields = {
  labelSelector: [1, pointer(labelSelector)],
  namespaces: [2, 'strings'],
  topologyKey: [3, 'string'],
  namespaceSelector: [4, pointer(labelSelector)],
  matchLabelKeys: [5, 'strings'],
  mismatchLabelKeys: [6, 'strings'],
};

/** Towards other pods, or away from them. */
const podAffinity = pointer({
  requiredDuringSchedulingIgnoredDuringExecution: [1, [podTerm]],
  preferredDuringSchedulingIgnoredDuringExecution: [
    2,
    [{ weight: [1, 'integer'], podAffinityTerm: [2, podTerm] }],
  ],
});

/** v1.Affinity. */
export const affinity: ReturnType<typeof pointer> = pointer({
  nodeAffinity: [1, nodeAffinity],
  podAffinity: [2, podAffinity],
  podAntiAffinity: [3, podAffinity],
});

/** v1.TopologySpreadConstraint. */
export const spreadConstraint: Fields = {
  maxSkew: [1, 'integer'],
  topologyKey: [2, 'string'],
  whenUnsatisfiable: [3, 'string'],
  labelSelector: [4, pointer(labelSelector)],
  minDomains: [5, 'integer*'],
  nodeAffinityPolicy: [6, 'string*'],
  nodeTaintsPolicy: [7, 'string*'],
  matchLabelKeys: [8, 'strings'],
};
