// The engine's model without the engine: the notation of taints and zones, and the configuration. A
// separate door, so that a caller that asks a cluster first need not load the deciding code.

export { type Config, defaultConfig, resolveConfig } from '../config.ts';
export type { Node } from '../model/node.ts';
export { nodePlace, zoneName } from '../model/node.ts';
export type { Owner, Pod } from '../model/pod.ts';
export { formatTaint, parseTaint, type Taint } from '../model/taint.ts';
export { isReplica } from '../own-replicas.ts';
