// The tables of protobuf fields beside the shapes of kinds: what one knows, the other must not lose.
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { apiVersionOf, resources, type Shape, type Struct } from '@taintmgr/sim-cluster/server';
import { bodyFields } from '../../src/protobuf/body-kinds.ts';
import { type Fields, type FieldType, isPointer, isRepeated } from '../../src/protobuf/fields.ts';

/** The message in a field; null: it holds none. */
function messageOf(type: FieldType): Fields | null {
  if (typeof type === 'string') return null;
  if (isRepeated(type)) return type[0];
  return isPointer(type) ? type.pointer : type;
}

function structOf(shape: Shape | undefined): Struct | null {
  if (shape === undefined || typeof shape === 'string') return null;
  if (shape.type === 'struct') return shape;
  return shape.type === 'list' ? structOf(shape.items) : null;
}

/** The members of a message with those of the messages that JSON has around them. */
function membersOf(fields: Fields): readonly (readonly [string, FieldType])[] {
  return Object.entries(fields).flatMap(([name, [, type]]) => {
    const inner = messageOf(type);
    return name === '' && inner ? membersOf(inner) : [[name, type] as const];
  });
}

/** Which members only one of the two has: `- PATH` the shape, `+ PATH` the table. */
function differences(fields: Fields, struct: Struct, path: string): readonly string[] {
  const members = new Map(membersOf(fields));
  const more = [...members.keys()].filter((name) => !Object.hasOwn(struct.fields, name));
  const names = Object.keys(struct.fields).filter((name) => !identity.has(path + name));
  const less = names.filter((name) => !members.has(name));
  const below = names.flatMap((name) => {
    const inner = messageOf(members.get(name) ?? 'string');
    const shape = structOf(struct.fields[name]);
    return inner && shape ? differences(inner, shape, `${path}${name}.`) : [];
  });
  return [
    ...more.map((name) => `+ ${path}${name}`),
    ...less.map((name) => `- ${path}${name}`),
    ...below,
  ];
}

/** What stands in the envelope. */
const identity = new Set(['kind', 'apiVersion']);

/** One shape serves the conditions of many kinds, and templates are pods. */
const isShared = (text: string): boolean => /conditions\.|\.template\./.test(text);

it('tables and shapes have the same members, but for rare ones', () => {
  const found = resources.flatMap((resource) => {
    const fields = bodyFields(apiVersionOf(resource), resource.kind);
    const texts = fields ? differences(fields, resource.schema, '') : [];
    return texts.filter((text) => !isShared(text)).map((text) => `${resource.kind} ${text}`);
  });
  assert.deepEqual(found, [
    'Node - spec.configSource',
    'Node - status.config',
    'Node - status.declaredFeatures',
    'Pod - spec.workloadRef',
    'Pod - spec.schedulingGroup',
    'Pod - status.allocatedResources',
    'Pod - status.resources',
    'Pod - status.nodeAllocatableResourceClaimStatuses',
    'ReplicationController - status.terminatingReplicas',
  ]);
});
