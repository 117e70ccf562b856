// Internals of the simulated cluster, for @taintmgr/api-server of the same version alone.

export { PlainServer, type PlainServerOptions } from './api/plain-server.ts';
export type { ServiceTime } from './api/serve.ts';
export { Cluster, type ClusterOptions } from './cluster.ts';
export { Controller, type ControllerContext } from './controllers/controller.ts';
export type { Condition } from './controllers/pods.ts';
export { isTerminal, isTerminating, keyOf, withCondition } from './controllers/pods.ts';
export { apiServerClusterIp } from './defaults/service.ts';
export { type BodyKind, bodyText, decodeBody, mediaType, readObject } from './handlers/body.ts';
export {
  invalidOptions,
  objectReply,
  presenterOf,
  readDryRun,
  targetOf,
  writerOf,
} from './handlers/context.ts';
export {
  type Binary,
  type Call,
  type Formats,
  type OpenFront,
  pathNotFound,
  type ResourceCall,
  type Server,
  type Talk,
} from './handlers/front.ts';
export { applyType, parsedPatch, updateOptions } from './handlers/patch.ts';
export type { RequestInfo, ResourcePath } from './handlers/request.ts';
export type { ReportBug } from './kernel/bug.ts';
export { type Clock, RealClock, type Timer } from './kernel/clock.ts';
export { hash } from './kernel/hash.ts';
export { type Random, randomUid } from './kernel/prng.ts';
export {
  ApiError,
  accessDenied,
  applyConflict,
  badRequest,
  type Cause,
  conflict,
  forbidden,
  internalError,
  invalid,
  methodNotAllowed,
  notFound,
  pathDenied,
  policyDenial,
  requestTooLarge,
  unauthorized,
  unknownPath,
} from './objects/errors.ts';
export {
  entry,
  equal,
  freeze,
  int64Max,
  isList,
  isObject,
  type JsonObject,
  quoted,
  setOwn,
  sortedCopy,
} from './objects/json.ts';
export { KeptTexts, keptText } from './objects/kept-text.ts';
export type { FieldTree, Json, KubeObject, ManagedFields } from './objects/kube-object.ts';
export { lastWritten } from './objects/last-written.ts';
export {
  labelErrors1035,
  labelNameErrors,
  labelValueErrors,
  qualifiedNameErrors,
  subdomainErrors,
} from './objects/names.ts';
export { canonicalQuantity, quantity, quantityError } from './objects/quantity.ts';
export { formatTime } from './objects/time.ts';
export {
  deniedByWebhook,
  dryRunUnsupported,
  unexpectedStatus,
  type WebhookStatus,
  webhookFailed,
} from './objects/webhook-errors.ts';
export {
  elementOf,
  type FieldPath,
  isAtomic,
  isMerged,
  memberShape,
  showField,
  valueAtField,
  withKeys,
  withoutField,
} from './patch/field-set.ts';
export { changedFields, fieldsOf } from './patch/field-tree.ts';
export { giveUp, ownersIn, withManaged } from './patch/managed-fields.ts';
export {
  hasField,
  hasFieldWithin,
  pathsOf,
  selfKey,
  treeAt,
  union,
  without,
} from './patch/tree-sets.ts';
export type { FieldLabels } from './resources/field-labels.ts';
export {
  type Column,
  defineResource,
  type Printer,
  type Resource,
  type ScaleAccess,
  type Subresource,
  scaleSubresource,
  statusSubresource,
  storageOf,
} from './resources/resource.ts';
export { apiVersionOf, hasSubresource, resources, storedResource } from './resources/resources.ts';
export type { ServedResources } from './resources/served.ts';
export { storedOnlyResources } from './resources/stored-only.ts';
export type { PublishedDevice, SelectsDevice } from './scheduler/device-pools.ts';
export { admitsNode } from './scheduler/node-affinity.ts';
export { type Decoded, DecodeError, decode } from './schema/decode.ts';
export { condition, labelSelector, objectMeta, topLevel } from './schema/metadata.ts';
export {
  always,
  freeForm,
  type List,
  list,
  listBy,
  map,
  type ScalarName,
  type Shape,
  type Struct,
  scalar,
  struct,
} from './schema/types.ts';
export { labelSelectorRequirements, matchesLabels } from './selectors/labels.ts';
export type { Change, ClusterApi } from './store/cluster-api.ts';
export { objectKey } from './store/collection.ts';
export type { Store } from './store/store.ts';
export { threeZones } from './topology.ts';
export {
  duplicateValue,
  forbiddenValue,
  invalidValue,
  notSupported,
  required,
  tooMany,
} from './validation/causes.ts';
export {
  finalizerWarnings,
  validateEmbeddedMetadata,
  validateExtensionMetadata,
  validateMetadata,
} from './validation/metadata.ts';
export { type LabelSelector, validateSelector } from './validation/selector.ts';
export {
  type Answer,
  bodyReply,
  chunksOf,
  errorReply,
  jsonReply,
  jsonWatch,
  type Reply,
  statusReply,
  textReply,
  type WatchFormat,
} from './wire/answer.ts';
export type { ApiRequest, Exchange, ResponseSink } from './wire/exchange.ts';
export { flag } from './wire/list-options.ts';
export { formOf, isJson, negotiate, parseAccept, type Representation } from './wire/negotiation.ts';
export type { Admission, AdmissionRequest, Extra, Rule, User, Writer } from './write/admission.ts';
export type { Backend } from './write/backend.ts';
export { toView } from './write/canonical.ts';
export { createObject } from './write/create.ts';
export { deleteObject } from './write/delete.ts';
export { replaceObject } from './write/update.ts';
export { type Said, Unanswered, type WebhookAnswers } from './write/webhook-answers.ts';
