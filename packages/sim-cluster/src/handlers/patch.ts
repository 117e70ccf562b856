// Handles PATCH.

import {
  ApiError,
  badRequest,
  invalid,
  notFound,
  unsupportedCustomPatch,
  unsupportedPatchType,
} from '../objects/errors.ts';
import { entry, isList, isObject, sortedCopy } from '../objects/json.ts';
import type { Json, KubeObject } from '../objects/kube-object.ts';
import { goText } from '../patch/go-text.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import { applyMergePatch } from '../patch/merge-patch.ts';
import { applyStrategicPatch } from '../patch/strategic.ts';
import { storageOf } from '../resources/resource.ts';
import { apiVersionOf } from '../resources/resources.ts';
import { invalidValue } from '../validation/causes.ts';
import type { Answer } from '../wire/answer.ts';
import { toView } from '../write/canonical.ts';
import { replaceObject, type UpdateOptions } from '../write/update.ts';
import {
  type Body,
  bodyText,
  checkKind,
  decodeBody,
  mediaType,
  parseJson,
  valueIn,
} from './body.ts';
import {
  managerOf,
  objectReply,
  presenterOf,
  readDryRun,
  refuseForce,
  targetOf,
  warned,
  writerOf,
} from './context.ts';
import type { ResourceCall } from './front.ts';

type Patcher = (document: Json, patch: Json, call: ResourceCall) => Json;

const strategicType = 'application/strategic-merge-patch+json';
const patchers: Readonly<Record<string, Patcher>> = {
  'application/json-patch+json': (document, patch) => applyJsonPatch(document, patch),
  'application/merge-patch+json': (document, patch) => applyMergePatch(document, asMap(patch)),
  [strategicType]: (document, patch, { resource }) =>
    applyStrategicPatch(resource.schema, document, asMap(patch)),
};
/** The content type of server-side apply. */
export const applyType = 'application/apply-patch+yaml';

/** PATCH of an object or its status. */
export function handlePatch(call: ResourceCall): Answer {
  if (mediaType(call.request) === applyType) return call.formats.apply(call);
  return patchWith(readPatch(call), call);
}

/**
 * Reads the patch of a request, of every type but server-side apply, as a function of a document of
 * the call's kind. Throws ApiError 400, 415 or 422.
 */
export function readPatch(call: ResourceCall): (document: KubeObject) => Body {
  const type = mediaType(call.request);
  const patcher = entry(patchers, type);
  if (call.resource.custom && (!patcher || type === strategicType)) throw unsupportedCustomPatch();
  if (!patcher) throw unsupportedPatchType();
  readDryRun(call, 'PatchOptions');
  refuseForce(call);
  presenterOf(call);
  const patch = parsedPatch(call);
  // A strategic merge patch is read into the kind of the call, whatever it says that it is of.
  const saysKind = type !== strategicType;
  return (document) => {
    const patched = patcher(document, patch, call);
    const shown = (): string => (saysKind ? JSON.stringify(patched) : goText(patch));
    return decodePatched(call, patched, { before: document, saysKind, shown });
  };
}

/** The body of a PATCH as JSON. Throws ApiError 400 for a body that is none. */
export function parsedPatch({ request }: ResourceCall): Json {
  const parse = (): Json =>
    parseJson(bodyText(request), (parseError) => badRequest(`error decoding patch: ${parseError}`));
  return valueIn(request) ?? parse();
}

function asMap(patch: Json): Json {
  if (isObject(patch)) return patch;
  const found = isList(patch) ? 'array' : typeof patch;
  throw badRequest(
    `error decoding patch: json: cannot unmarshal ${found} into Go value of type map[string]interface {}`,
  );
}

/**
 * The options of a write by PATCH: its field manager, its writer, and `warnings`, to which texts
 * are added.
 */
export function updateOptions(
  call: ResourceCall,
  dryRun: boolean,
  warnings: string[],
): UpdateOptions {
  const subresource = call.path.subresource as '' | 'status' | 'approval';
  const writer = writerOf(call, warnings);
  return { dryRun, manager: managerOf(call), writer, subresource, patch: true };
}

function presentView(call: ResourceCall): KubeObject | null {
  const { backend, resource, path } = call;
  const { storeKey } = storageOf(resource);
  const stored = backend.store.get(storeKey, path.namespace, path.name);
  return stored ? toView(resource, stored) : null;
}

function patchWith(patch: (document: KubeObject) => Body, call: ResourceCall): Answer {
  const { backend, resource } = call;
  const present = presentView(call);
  if (!present) throw notFound(resource, call.path.name);
  // The error for an invalid patched object shows it whole, as the replies of its kind do.
  const shown = resource.custom ? (sortedCopy(present as Json) as KubeObject) : present;
  const { object, warnings } = patch(shown);
  const dryRun = readDryRun(call, 'PatchOptions');
  const options = updateOptions(call, dryRun, warnings);
  const written = warned(warnings, () =>
    replaceObject(backend, resource, targetOf(call), object, options),
  );
  return objectReply(call, 200, written.object, warnings);
}

/** A patch cannot make a custom resource one of another kind or version. */
function checkPatchedKind({ resource, path }: ResourceCall, patched: Json): void {
  const { kind, apiVersion } = isObject(patched) ? patched : {};
  if (kind !== resource.kind) {
    const { group } = resource;
    const cause = invalidValue('kind', kind, `must be ${resource.kind}`);
    throw invalid({ group, kind: String(kind) }, path.name, [cause]);
  }
  if (apiVersion === apiVersionOf(resource)) return;
  const text = `request to convert CR to an invalid group/version: ${String(apiVersion)}`;
  throw invalid({ group: '', kind: '' }, '', [
    invalidValue('patch', JSON.stringify(patched), text),
  ]);
}

interface PatchedFrom {
  readonly before: KubeObject;
  readonly saysKind: boolean;
  /** The object that a refusal shows: the patched object, or a strategic merge patch itself. */
  readonly shown: () => string;
}

/** A patched object that does not fit its kind is a 422. */
function decodePatched(
  call: ResourceCall,
  patched: Json,
  { before, saysKind, shown }: PatchedFrom,
): Body {
  try {
    const { backend, info, resource } = call;
    if (resource.custom) checkPatchedKind(call, patched);
    else if (saysKind) checkKind(patched, resource);
    return decodeBody(patched, info.query, resource, before, backend.isBrief);
  } catch (error) {
    const text = error instanceof ApiError ? error.message : '';
    const reason = text.split(': ').slice(1).join(': ');
    const refused = call.resource.custom
      ? /parsing time|json: cannot|strict decoding/
      : /parsing time|json: cannot|strict decoding|unknown conversion|no kind/;
    if (!refused.test(reason)) throw error;
    const cause = invalidValue('patch', shown(), reason);
    throw invalid({ group: '', kind: '' }, '', [cause]);
  }
}
