import { Reflector } from '../../../src/proto/reflector.ts';
import { random } from '../random.ts';

export const podReflector = (reportsEarly: boolean): Reflector<number> =>
  new Reflector({
    ...{ resource: 'pods', path: '/api/v1/pods', project: () => 1, random: random(0) },
    ...{ watch: true, selectors: {}, reportsEarly },
  });
