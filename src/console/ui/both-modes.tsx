import { chosenLivemode } from '../mode'
import type { Visit } from '../page'

/** Says that what follows does not follow the switch in the sidebar, while that shows one mode. */
export function BothModes({ c }: { c: Visit }) {
  return chosenLivemode(c) === undefined ? null : <p class="quiet">Shows both modes.</p>
}
