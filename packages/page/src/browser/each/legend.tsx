// The scale of the heat map, and its marks.
import type { EachState } from './state.ts';

export function HeatLegend({ state }: { readonly state: EachState }) {
  const { limits, marks } = state.map.value;
  const isLost = state.measure.value === 'lost';
  const unit = isLost ? '' : ' %';
  const texts = [
    ...limits.map((limit) => (isLost || limit < 99 ? `to ${limit}${unit}` : 'not all')),
    isLost ? `over ${limits.at(-1)}` : 'all',
  ];
  return (
    <ul class="legend" aria-label="Legend">
      <li>{isLost ? 'Pod-minutes lost:' : 'Largest share down:'}</li>
      {marks.moved && (
        <li>
          <i class="swatch heat level-0" /> none, only moved
        </li>
      )}
      {texts.map((text, index) => (
        <li key={text}>
          <i class={`swatch heat level-${index + 1}`} /> {text}
        </li>
      ))}
      {marks.unknown && (
        <li>
          <i class="swatch heat unsure" /> ? not all is simulated
        </li>
      )}
      {marks.unplaced && (
        <li>
          <i class="swatch heat unplaced" /> no room at the end
        </li>
      )}
    </ul>
  );
}
