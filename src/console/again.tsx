import { asFault } from '../http/errors'
import type { Visit } from './page'
import { forgetSession, userOf } from './session'
import { Post } from './ui/controls'
import { show } from './ui/layout'

/*
 * A form that arrives without its session. Nothing is done, and nothing that was entered is lost: the answer has the form's fields, and
 * asks to send them again. Only a page of our own can send a form here: see `requireSameOrigin`.
 */

/** What a page signs for its session, so that it means nothing to another one. Both are optional, or made anew. */
const OF_SESSION = ['form_token', 'once']

function Entered({ c, last }: { c: Visit; last?: true }) {
  const fields = [...c.get('form')].filter(([name]) => !OF_SESSION.includes(name))
  return (
    <>
      {fields.map(([name, value]) => (
        <input type="hidden" name={name} value={value} autocomplete="off" />
      ))}
      <button type="submit" class={last ? undefined : 'primary'}>
        Send the form
      </button>
    </>
  )
}

/** The page for a form of a visitor who is not signed in any more. */
export function endedPage(c: Visit, error: unknown) {
  forgetSession(c)
  c.get('log').code = asFault(error).fault
  return show(
    c,
    { title: 'Your session ended', status: 401 },
    <>
      <h1>Your session ended</h1>
      <p>Nothing was changed. This page keeps what you entered.</p>
      <p>
        <a class="button primary" href="/console/sign-in" target="_blank" rel="noopener">
          Sign in on a new tab
        </a>
      </p>
      <p>Then come back to this tab and send the form.</p>
      <form method="post" action={pathOf(c)}>
        <Entered c={c} last />
      </form>
    </>,
  )
}

/** The page for a form of an earlier session of this browser. The visitor sends it again, as the user of the present one. */
export function earlierSessionPage(c: Visit) {
  c.get('log').code = 'form_rejected'
  return show(
    c,
    { title: 'Send the form again?', status: 403 },
    <>
      <h1>Send the form again?</h1>
      <p>
        Nothing was changed: you filled in the form in an earlier session. You are signed in as{' '}
        <strong>{userOf(c).email}</strong> now.
      </p>
      <Post c={c} to={pathOf(c)} class="once">
        <Entered c={c} />
      </Post>
    </>,
  )
}

function pathOf(c: Visit): string {
  const { pathname, search } = new URL(c.req.url)
  return pathname + search
}
