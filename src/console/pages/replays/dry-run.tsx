import type { Context } from 'hono'
import type * as z from 'zod'
import { projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { ReplayPreview } from '../../../inbox/replay/present'
import { pathsOf } from '../../page'
import { Post } from '../../ui/controls'
import { Effects } from '../../ui/effects'
import { show } from '../../ui/layout'

/** Shows what a replay of an event would do. */
export function dryRunPage(c: Context<HttpEnv>, id: string, preview: z.infer<typeof ReplayPreview>) {
  const at = `${pathsOf(c).events}/${id}`
  return show(
    c,
    { title: 'Dry run', section: 'events', above: ['Event', at] },
    <section class="confirm">
      <h1>A replay would set the status to “{preview.status}”</h1>
      <p>{preview.error ?? 'This dry run shows the effects that a replay would have now. Nothing has been changed.'}</p>
      <Effects of={preview.effects} project={projectOf(c.get('actor'))} />
      <Post c={c} to={`${at}/replay`} class="choice">
        <button type="submit" class="primary">
          Replay
        </button>
        <a class="button" href={at}>
          Cancel
        </a>
      </Post>
    </section>,
  )
}
