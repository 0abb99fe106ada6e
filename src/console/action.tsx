import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { HttpEnv } from '../http/context'
import type { PagePolicy } from '../http/meta'
import type { Counted } from '../http/policy'
import { Fault } from '../lib/fault'
import { page, type Visit } from './page'
import { type Explained, type Refusal, refusalOf, type Sent, UNSENT } from './refusal'
import { Post, Wrong } from './ui/controls'
import type { SectionName } from './ui/frame/sections'
import { show } from './ui/layout'
import type { NoticeName } from './ui/notice'

/** Where a form leads once it has done what it asks: a path, with a notice there, or another answer. */
export type Done = readonly [path: string, notice?: NoticeName] | Response

/** A question before an action, as a page. With JavaScript it opens in a dialog. */
export type Ask = {
  title: string
  section: SectionName
  /** The parent page, which "Cancel" leads back to. */
  above: readonly [label: string, path: string]
  /** The heading, if it is not the title. */
  question?: Child
  /** What follows. */
  says: Child
  /** Fields of the form, shown above its buttons. */
  choice?: Child
  verb: string
  danger?: boolean
  /** Where the form is sent, if not to the page's own address. */
  to?: string
}

type Answer = Response | Promise<Response>

type Action<Of, Result> = {
  /** The path of the page that asks; none for a form on another page. */
  at?: string
  /** The path of the form, if it is another one. */
  posts?: string
  needs: PagePolicy
  /** How its form counts against the limits of the project, if not as a write. */
  counted?: Counted
  /** What must hold for the page and for its form besides. @throws what must be done first */
  requires?: (c: Visit) => void
  /** Reads what the page shows, also to show it again. @throws {Fault} `not_found` */
  read?: (c: Visit) => Of | Promise<Of>
  /** What the page asks, or a page of its own: one with the form, or why there is nothing to ask. */
  ask?: (c: Visit, of: Of, sent: Sent) => Ask | Answer
  /** Shows a form that was refused, if that is not on the page that asks. Without either, the refusal is an error page. */
  again?: (c: Visit, sent: Sent) => Answer
  /** Does what the form asks. @throws what the page then explains, if it can: see {@link refusalOf} */
  run: (c: Visit) => Result | Promise<Result>
  done: (c: Visit, result: Result) => Done | Promise<Done>
  /** What the page explains besides mistakes and conflicts. */
  explains?: Explained
}

/**
 * An action that is asked about first: a page, and the form on it; or a form on another page. A form that is refused is shown
 * again, with the reason.
 */
export function action<Of, Result>(of: Action<Of, Result>): Hono<HttpEnv> {
  const { at, posts = at, needs, counted, requires, read, ask, run, done, explains } = of
  const pages = new Hono<HttpEnv>()
  const asked =
    ask &&
    (async (c: Visit, sent: Sent) => {
      const answer = await ask(c, (await read?.(c)) as Of, sent)
      return 'verb' in answer ? askPage(c, answer, sent) : answer
    })
  const again = of.again ?? asked
  if (at !== undefined && asked) {
    pages.get(at, page(needs), (c) => {
      requires?.(c)
      return asked(c, UNSENT)
    })
  }
  if (posts !== undefined) {
    pages.post(posts, page(needs, counted), async (c) => {
      requires?.(c)
      let sent: Sent
      try {
        const answer = await done(c, await run(c))
        return answer instanceof Response ? answer : leadTo(c, ...answer)
      } catch (error) {
        if (!again) throw error
        sent = { ...refusalOf(error, explains), entered: c.get('form') }
        const { headers = {} } = error instanceof Fault ? error.extra : {}
        if (error instanceof Fault) c.get('log').code = error.fault
        for (const [name, value] of Object.entries(headers)) c.header(name, value)
      }
      return again(c, sent)
    })
  }
  return pages
}

/** Leads to a page after a form. @param notice what it says there */
export function leadTo(c: Visit, path: string, notice?: NoticeName): Response {
  if (notice === undefined) return c.redirect(path, 303)
  const query = new URLSearchParams(path.split('?')[1])
  query.set('done', notice)
  return c.redirect(`${path.split('?')[0]}?${query}`, 303)
}

/** The page of a question. */
export function askPage(c: Visit, ask: Ask, { mistakes, status }: Refusal = UNSENT) {
  const { title, section, above } = ask
  return show(c, { title, section, above, status }, <Confirm c={c} {...ask} refused={mistakes.form} />)
}

type ConfirmProps = Pick<Ask, 'title' | 'question' | 'says' | 'choice' | 'verb' | 'danger' | 'to' | 'above'> & {
  c: Visit
  refused?: string | undefined
}

/** A question with its form, and why the form was refused. */
export function Confirm({ c, above, title, question = title, danger, refused, ...ask }: ConfirmProps) {
  return (
    <section id="confirm" class="confirm">
      <h1>{question}</h1>
      {ask.says}
      <Wrong>{refused}</Wrong>
      <Post c={c} to={ask.to ?? new URL(c.req.url).pathname} class="once">
        {ask.choice}
        <div class="choice">
          <button type="submit" class={danger ? 'danger' : 'primary'}>
            {ask.verb}
          </button>
          {/* Enter must not end anything by accident. */}
          <a class="button" href={above[1]} data-close autofocus={danger}>
            Cancel
          </a>
        </div>
      </Post>
    </section>
  )
}
