import type { MuteRow } from '../../../inbox/mutes/mutes'
import type { Visit } from '../../page'
import { Post } from '../../ui/controls'
import { Time } from '../../ui/parts'

/** Who muted a cause, and until when. @param names of users and API keys, by id */
export function Muted({ mute, names, now }: { mute: MuteRow; names: ReadonlyMap<string, string>; now: number }) {
  return (
    <>
      <span class="badge">Muted</span> by {names.get(mute.muted_by) ?? <code>{mute.muted_by}</code>}
      {mute.until === null ? (
        ', until someone unmutes it'
      ) : (
        <>
          . Ends <Time at={mute.until} now={now} />
        </>
      )}
    </>
  )
}

/** The link to the page that asks how long to mute a cause, or the form that unmutes it. `at`: the path of the cause. */
export function MuteOrUnmute({ c, at, isMuted, what }: { c: Visit; at: string; isMuted: boolean; what: string }) {
  if (!isMuted) {
    return (
      <a href={`${at}/mute`} data-dialog>
        Mute…<span class="unseen"> {what}</span>
      </a>
    )
  }
  return (
    <Post c={c} to={`${at}/unmute`} class="once">
      <button type="submit">
        Unmute<span class="unseen"> {what}</span>
      </button>
    </Post>
  )
}
