import { type Context, Hono } from 'hono'
import type { Child } from 'hono/jsx'
import type { HttpEnv } from '../http/context'
import type { PagePolicy } from '../http/meta'
import { Fault } from '../lib/fault'
import { page } from './page'
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
  /** What must hold for the page and for its form besides. @throws what must be done first */
  requires?: (c: Context<HttpEnv>) => void
  /** Reads what the page shows, also to show it again. @throws {Fault} `not_found` */
  read?: (c: Context<HttpEnv>) => Of | Promise<Of>
  /** What the page asks, or a page of its own: one with the form, or why there is nothing to ask. */
  ask: (c: Context<HttpEnv>, of: Of, sent: Sent) => Ask | Answer
  /** Does what the form asks. @throws what the page then explains, if it can: see {@link refusalOf} */
  run: (c: Context<HttpEnv>) => Result | Promise<Result>
  done: (c: Context<HttpEnv>, result: Result) => Done | Promise<Done>
  /** What the page explains besides mistakes and conflicts. */
  explains?: Explained
}

/**
 * An action that is asked about first: a page, and the form on it. A form that is refused shows its page again, with the
 * reason.
 */
export function action<Of, Result>(of: Action<Of, Result>): Hono<HttpEnv> {
  const { at, posts = at, needs, requires, read, ask, run, done, explains } = of
  const pages = new Hono<HttpEnv>()
  const asked = async (c: Context<HttpEnv>, sent: Sent) => {
    const answer = ask(c, (await read?.(c)) as Of, sent)
    return 'verb' in answer ? askPage(c, answer, sent) : answer
  }
  if (at !== undefined) {
    pages.get(at, page(needs), (c) => {
      requires?.(c)
      return asked(c, UNSENT)
    })
  }
  if (posts !== undefined) {
    pages.post(posts, page(needs), (c) => {
      requires?.(c)
      const does = async () => done(c, await run(c))
      return submit(c, does, (sent) => asked(c, sent), explains)
    })
  }
  return pages
}

/**
 * Does what a form asks, and leads on.
 *
 * @param again shows the form again, with why it was refused
 * @throws an error that the form cannot explain
 */
export async function submit(
  c: Context<HttpEnv>,
  run: () => Promise<Done>,
  again: (sent: Sent) => Answer,
  explains?: Explained,
): Promise<Response> {
  let refusal: Refusal
  try {
    const done = await run()
    return done instanceof Response ? done : leadTo(c, ...done)
  } catch (error) {
    refusal = refusalOf(error, explains)
    if (error instanceof Fault)
      for (const [name, value] of Object.entries(error.extra.headers ?? {})) c.header(name, value)
  }
  return again({ ...refusal, entered: c.get('form') })
}

/** Leads to a page after a form. @param notice what it says there */
export function leadTo(c: Context<HttpEnv>, path: string, notice?: NoticeName): Response {
  const mark = path.includes('?') ? '&' : '?'
  return c.redirect(notice ? `${path}${mark}done=${notice}` : path, 303)
}

/** The page of a question. */
export function askPage(c: Context<HttpEnv>, ask: Ask, { mistakes, status }: Refusal = UNSENT) {
  const { title, section, above } = ask
  return show(c, { title, section, above, status }, <Confirm c={c} {...ask} refused={mistakes.form} />)
}

type ConfirmProps = Pick<Ask, 'title' | 'question' | 'says' | 'choice' | 'verb' | 'danger' | 'to' | 'above'> & {
  c: Context<HttpEnv>
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
