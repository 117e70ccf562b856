// The engine's model without the engine: the notation of taints and zones, and the configuration. For
// callers that ask a cluster first, and load the code that decides later.

export { type Config, defaultConfig, resolveConfig } from '../config.ts';
export type { Node } from '../model/node.ts';
export { nodePlace, zoneName } from '../model/node.ts';
export type { Owner, Pod } from '../model/pod.ts';
export { formatTaint, parseTaint, type Taint } from '../model/taint.ts';
export { isReplica } from '../own-replicas.ts';
