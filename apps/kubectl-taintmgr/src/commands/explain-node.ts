import { nodeFromJson } from '@taintmgr/k8s-adapter';
import { connect } from '../connection.ts';
import type { Output } from '../output.ts';
import { explanationNotes, renderNodeExplanation } from '../render/node-explanation.ts';
import { engineWith, readNode, readPodsOn } from '../snapshot.ts';

/** `explain node NAME`: reads the node and its pods once and prints what will become of them. */
export async function explainNode(
  name: string,
  flags: Readonly<Record<string, unknown>>,
  output: Output,
  interrupt: AbortSignal,
): Promise<void> {
  const { client, transport } = await connect(flags, interrupt);
  try {
    const node = nodeFromJson(await readNode(client, name));
    const pods = await readPodsOn(client, name);
    const now = Date.now();
    const engine = engineWith(now, [node], pods);
    const explanation = engine.explain(now, { kind: 'node', name });
    if (explanation?.kind !== 'node') throw new Error(`node ${name} was read and is not known`);
    output.out(renderNodeExplanation(explanation, now));
    for (const note of explanationNotes(explanation, now)) output.err(note);
  } finally {
    transport.close();
  }
}
