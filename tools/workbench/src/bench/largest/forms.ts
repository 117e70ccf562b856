// Objects of the feeder in each form that a client may ask for.
import { encodeFrame } from '@taintmgr/sim-cluster';
import { marks } from './objects.ts';
import { Template, type Values } from './template.ts';

/** How an object is written: alone, or as an event of a watch. */
export type Form = 'object' | 'json' | 'protobuf';

/** An object with marks, in all forms; each is made when it is first asked for. */
export class Forms {
  readonly #object: object;
  readonly #templates = new Map<string, Template>();

  constructor(object: object) {
    this.#object = object;
  }

  /** `type`: of the event, where it is one. */
  write(form: Form, type: string, values: Values): Buffer {
    const key = `${form} ${type}`;
    const known = this.#templates.get(key);
    if (known) return known.fill(values);
    const bytes = bytesOf(form, type, this.#object);
    const template = new Template(
      bytes,
      Object.values(marks).filter((mark) => bytes.includes(mark)),
    );
    this.#templates.set(key, template);
    return template.fill(values);
  }
}

/** An object that has none of the marks, in a form. */
export function bytesOf(form: Form, type: string, object: object): Buffer {
  if (form === 'protobuf') return Buffer.from(encodeFrame(type, { ...object }));
  return Buffer.from(
    form === 'object' ? JSON.stringify(object) : `${JSON.stringify({ type, object })}\n`,
  );
}
