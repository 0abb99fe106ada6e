import { ModeBadge } from './badge'

/** Says that a list shows one mode only, wherever that was chosen. Nothing if it shows both. @param all the address of both */
export function OnlyMode({ livemode, all }: { livemode: boolean | undefined; all: string }) {
  if (livemode === undefined) return null
  return (
    <p class="notice" data-mode={livemode ? 'live' : 'test'}>
      <ModeBadge of={livemode} /> This list shows {livemode ? 'live mode' : 'test mode'} only.{' '}
      <a href={all}>Show both modes</a>
    </p>
  )
}
