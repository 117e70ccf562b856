// The effect of the loss of each zone and of each node, in a line each: asked for when it comes into view.
import { type Signal, signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LiveInput } from '../../live.ts';
import type { LossesInWords, LossInWords } from '../../what-if.ts';
import { type Answer, ask } from './ask.ts';

export type Each = 'zone' | 'node';

/** The answer about each zone or node so far. */
interface ForecastOf {
  readonly answer: Signal<Answer>;
  /** Null: not answered yet. */
  readonly losses: Signal<(LossesInWords & { readonly address: string }) | null>;
}

export type Forecasts = Readonly<Record<Each, ForecastOf>>;

export function forecastsOf(): Forecasts {
  const none = (): ForecastOf => ({
    answer: signal<Answer>({ kind: 'none' }),
    losses: signal(null),
  });
  return { zone: none(), node: none() };
}

/** The number of nodes that the page asks for by itself; a person may ask for more. */
const nodesMax = 50;

interface ForecastProps {
  readonly input: LiveInput;
  readonly forecasts: Forecasts;
  readonly address: string;
}

export function Forecast({ input, forecasts, address }: ForecastProps) {
  const amounts = { zone: input.zones.length, node: input.nodes.length };
  const find = (each: Each, isFresh: boolean): Promise<void> => {
    const query = new URLSearchParams({ event: 'down', where: `each ${each}`, until: '30m' });
    if (!isFresh) query.set('kept', 'on');
    const { answer, losses } = forecasts[each];
    return ask({ address, isEach: true }, query, answer, (line) => {
      losses.value = line.losses ? { ...line.losses, address: line.address } : null;
    });
  };
  useEffect(() => {
    const mayAsk = ({ answer, losses }: ForecastOf): boolean =>
      answer.peek().kind === 'none' && losses.peek() === null;
    // In sequence: the server plays one question at a time.
    void (async () => {
      if (amounts.zone > 1 && mayAsk(forecasts.zone)) await find('zone', false);
      if (amounts.node > 1 && amounts.node <= nodesMax && mayAsk(forecasts.node))
        await find('node', false);
    })();
  }, []);
  return (
    <div class="forecast">
      {(['zone', 'node'] as const).map((each) => (
        <Part
          key={each}
          each={each}
          amount={amounts[each]}
          startsAt={input.startsAt}
          forecast={forecasts[each]}
          address={address}
          find={() => void find(each, true)}
        />
      ))}
    </div>
  );
}

interface PartProps {
  readonly each: Each;
  readonly amount: number;
  readonly startsAt: number;
  readonly forecast: ForecastOf;
  readonly address: string;
  readonly find: () => void;
}

/** The number of lines that are shown before the user asks for more. */
const shownMax = 5;

function Part({ each, amount, forecast, address, find }: PartProps) {
  const { answer, losses } = forecast;
  const isWhole = useSignal(false);
  if (amount < 2) return null;
  const found = losses.value;
  const harmful = found?.losses.filter(({ isHarmful }) => isHarmful) ?? [];
  const shown = isWhole.value ? harmful : harmful.slice(0, shownMax);
  const harmless = (found?.losses.length ?? 0) - harmful.length;
  return (
    <section aria-label={`If a ${each} died now`}>
      <h2>If a {each} died now</h2>
      {found && (
        <ul>
          {shown.map((one) => (
            <Line key={one.part} loss={one} address={address} />
          ))}
          {found.leftOut > 0 && <li class="calm">{found.leftOut} more without an answer</li>}
          {harmless > 0 && (
            <li class="calm">
              {harmful.length === 0 ? `Any of the ${amount} ${each}s` : `Any of ${harmless} others`}
              : no workload goes down
            </li>
          )}
        </ul>
      )}
      <p class="about">
        {harmful.length > shownMax && (
          <button
            type="button"
            onClick={() => {
              isWhole.value = !isWhole.value;
            }}
          >
            {isWhole.value ? 'Show fewer' : `Show all ${harmful.length}`}
          </button>
        )}{' '}
        {found && (
          <>
            Played at {hour.format(found.playedAt)}. <a href={found.address}>Heat map</a>{' '}
          </>
        )}
        <Progress
          each={each}
          amount={amount}
          answer={answer.value}
          isFound={found !== null}
          find={find}
        />
      </p>
    </section>
  );
}

const hour = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });

interface ProgressProps {
  readonly each: Each;
  readonly amount: number;
  readonly answer: Answer;
  readonly isFound: boolean;
  readonly find: () => void;
}

function Progress({ each, amount, answer, isFound, find }: ProgressProps) {
  if (answer.kind === 'awaited') {
    return (
      <>
        <output>
          Simulating the loss of each {each}: {answer.text}
        </output>{' '}
        <button type="button" onClick={answer.stop}>
          Stop
        </button>
      </>
    );
  }
  const text = isFound ? 'Play again' : `Play the loss of each of ${amount} ${each}s`;
  return (
    <>
      {answer.kind === 'failed' && `No answer: ${answer.text}. `}
      <button type="button" onClick={find}>
        {text}
      </button>
    </>
  );
}

/** `zone r1/a: shop/web 2 of 8 down for 6m`; a click plays it alone. */
function Line({
  loss: { part, text },
  address,
}: {
  readonly loss: LossInWords;
  readonly address: string;
}) {
  const answer = useSignal<Answer>({ kind: 'none' });
  const isNamed = /^(zone|node) /.test(part);
  const play = (): void => {
    const query = new URLSearchParams({ event: 'down', where: part, until: '30m' });
    void ask({ address, isEach: false }, query, answer);
  };
  return (
    <li>
      {isNamed ? (
        <button type="button" class="place" title={`Play the loss of ${part} alone`} onClick={play}>
          {part}
        </button>
      ) : (
        part
      )}
      : {text}
      {answer.value.kind === 'awaited' && <output> ({answer.value.text})</output>}
      {answer.value.kind === 'failed' && <output> ({answer.value.text})</output>}
    </li>
  );
}
