// Parts of drains: cordon, taint and mark of a node as values, and their removal.

export { nodeChanging } from '../controller/procedures/drain-write.ts';
export {
  deleteEvictionRequest,
  evictionRequestsFrom,
  lifecyclePath,
} from '../controller/procedures/eviction-requests.ts';
export { deploymentOf, restartsBeforeItGoes } from '../controller/procedures/rollout-restart.ts';
export { type Change, readModifyWrite } from '../controller/task.ts';
export { type CordonAndTaint, missingOn, type NodeChanges } from '../drain/cordon-and-taint.ts';
export { type DrainMark, drainName, markOf, readMarks } from '../drain/marks.ts';
export { drainableNode, type NodeChange } from '../drain/node-change.ts';
export { type IsMeant, isMarkOf, isNamed, undoing } from '../drain/undo.ts';
export { ending } from '../drain/working-mark.ts';
export { answerValue } from '../proto/answer.ts';
export { patchConditionsRequest } from '../proto/requests.ts';
