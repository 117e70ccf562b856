// Asks the admission controllers, for writers whose changes are judged.

import type { Json, KubeObject } from '../objects/kube-object.ts';
import type { Resource } from '../resources/resource.ts';
import { storedResource } from '../resources/resources.ts';
import type { Writer } from './admission.ts';
import type { Backend, Target, WriteOptions } from './backend.ts';

type Options = { readonly [member: string]: Json };

function optionsOf(kind: string, { options }: Writer, dryRun: boolean): Options {
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...options,
  };
}

interface Created {
  readonly namespace: string;
  readonly options: WriteOptions;
}

/** A namespace is in itself. */
function placeOf(resource: Resource, namespace: string, name: string): string {
  const isNamespace = resource.group === '' && resource.plural === 'namespaces';
  return isNamespace ? name : namespace;
}

/** Judges a new object, which is whole and valid. Throws ApiError. */
export function judgeCreate(
  { admission }: Backend,
  resource: Resource,
  object: KubeObject,
  { namespace, options }: Created,
): void {
  const { writer, dryRun = false } = options;
  if (!writer) return;
  const { name } = object.metadata;
  admission.judge(
    {
      operation: 'CREATE',
      resource,
      subresource: '',
      namespace: placeOf(resource, namespace, name),
      name,
      object,
      oldObject: null,
      dryRun,
      options: optionsOf('CreateOptions', writer, dryRun),
    },
    writer,
  );
}

/** Judges a change, also one that changes nothing. Throws ApiError. */
export function judgeUpdate(
  { admission }: Backend,
  resource: Resource,
  object: KubeObject,
  oldObject: KubeObject,
  { writer, dryRun = false, subresource = '' }: WriteOptions & { subresource?: string },
): void {
  if (!writer) return;
  const { name, namespace = '' } = oldObject.metadata;
  admission.judge(
    {
      operation: 'UPDATE',
      resource,
      subresource,
      namespace: placeOf(resource, namespace, name),
      name,
      object,
      oldObject,
      dryRun,
      options: optionsOf('UpdateOptions', writer, dryRun),
    },
    writer,
  );
}

interface Removal {
  readonly target: Target;
  readonly request: { readonly dryRun?: readonly string[] };
  readonly writer: Writer | undefined;
}

/** Judges a deletion. Throws ApiError. */
export function judgeDelete(
  { admission }: Backend,
  resource: Resource,
  oldObject: KubeObject,
  { target, request, writer }: Removal,
): void {
  if (!writer) return;
  const { dryRun: asked = [], ...rest } = request;
  const dryRun = asked.length > 0;
  const options = dryRun ? request : rest;
  admission.judge(
    {
      operation: 'DELETE',
      resource,
      subresource: '',
      namespace: placeOf(resource, target.namespace, target.name),
      name: writer.isCollection ? '' : target.name,
      object: null,
      oldObject,
      dryRun,
      options: { ...(options as Options), kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
    },
    writer,
  );
}

interface Asked {
  readonly target: Target;
  readonly dryRun: boolean;
  readonly writer: Writer | undefined;
}

/** Judges an object posted to a subresource of a pod. Throws ApiError. */
export function judgeSubresource(
  { admission }: Backend,
  subresource: string,
  object: KubeObject,
  { target, dryRun, writer }: Asked,
): void {
  if (!writer) return;
  admission.judge(
    {
      operation: 'CREATE',
      resource: storedResource('pods'),
      subresource,
      namespace: target.namespace,
      name: target.name,
      object,
      oldObject: null,
      dryRun,
      options: optionsOf('CreateOptions', writer, dryRun),
    },
    writer,
  );
}
