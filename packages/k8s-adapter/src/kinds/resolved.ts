// A schema by its name is the shared one, with what is said beside the name.
import type { Schema, SharedSchema } from './schema.ts';
import { sharedSchemas } from './shared.ts';

export type PlainSchema = Exclude<Schema, SharedSchema>;

export function resolved(schema: Schema): PlainSchema {
  if (schema.type !== 'shared') return schema;
  const { type: _, name, ...own } = schema;
  return { ...sharedSchemas[name], ...own };
}
