import type { Child } from 'hono/jsx'
import { pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'

/** `to`: the end of the path that takes it. */
type Props = { c: Visit; to: string; sent: Pick<Sent, 'mistakes'>; children: Child }

/** A form that changes settings. */
export function SettingsForm({ c, to, sent, children }: Props) {
  return (
    <Post c={c} to={`${pathsOf(c).general}/${to}`} class="form card">
      <Wrong>{sent.mistakes.form}</Wrong>
      {children}
      <button type="submit">Save</button>
    </Post>
  )
}
