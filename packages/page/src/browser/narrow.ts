// A window with little room across.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The style has the same width. */
const narrow = '(max-width: 600px)';

export function useNarrow(): Signal<boolean> {
  const isNarrow = useSignal(matchMedia(narrow).matches);
  useEffect(() => {
    const query = matchMedia(narrow);
    const look = (): void => {
      isNarrow.value = query.matches;
    };
    query.addEventListener('change', look);
    return () => query.removeEventListener('change', look);
  }, []);
  return isNarrow;
}
