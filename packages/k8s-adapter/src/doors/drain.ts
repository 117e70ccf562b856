// What a drain writes on its nodes, as values: cordon, taint, mark, and how they are taken back.

export { deploymentOf, restartsBeforeItGoes } from '../controller/procedures/rollout-restart.ts';
export {
  type CordonAndTaint,
  cordoning,
  missingOn,
  type NodeChanges,
  tainting,
} from '../drain/cordon-and-taint.ts';
export { deleteEvictionRequest, lifecyclePath } from '../drain/eviction-request.ts';
export { guardRequest, nodeDrainPath } from '../drain/guard.ts';
export { type DrainMark, drainName, isAtWork, markOf, readMarks } from '../drain/marks.ts';
export { evictionRequestsFrom } from '../drain/moved-pods.ts';
export {
  drainableNode,
  type NodeChange,
  patchNodeRequest,
  type RefusedChange,
} from '../drain/node-change.ts';
export {
  type IsMeant,
  isMarkOf,
  isNamed,
  type NodeUndone,
  undoing,
  untainting,
} from '../drain/undo.ts';
export { type DrainRunName, ending, renewing } from '../drain/working-mark.ts';
export { patchConditionsRequest } from '../proto/node-requests.ts';
