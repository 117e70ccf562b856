import { beginForecast, surveyForecast } from '../../cluster/survey.ts';
import type { Subject } from './subject.ts';

/** `explain node NAME`: what answers is loaded while the pods are on their way. */
export function nodeSubject(name: string): Subject {
  return {
    read: async (reader, options) => {
      const asked = reader.node(name);
      const begun = beginForecast(reader, [name], options);
      // Where there is no such node, that is what is said.
      const node = await asked;
      const [survey] = await Promise.all([
        surveyForecast(reader, [node], [node], { ...options, begun }),
        options.meanwhile?.(),
        import('./node-answer.ts'),
      ]);
      return survey;
    },
    answer: async ({ nodes: [report] }, context) => {
      if (!report) throw new Error(`node ${name} was read and is not known`);
      const { nodeAnswer } = await import('./node-answer.ts');
      return nodeAnswer(report, context);
    },
    watched: () => ({
      nodes: { fieldSelector: `metadata.name=${name}` },
      pods: { fieldSelector: `spec.nodeName=${name}` },
    }),
  };
}
