// The comparison of a decision with that of kube-controller-manager.

export { classify } from '../differences/classify.ts';
export type { Comparison } from '../differences/simulated-upstream.ts';
