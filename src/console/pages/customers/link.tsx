import type { Context } from 'hono'
import type { Consumer } from '../../../consumers/read'
import type { HttpEnv } from '../../../http/context'
import { pathsOf } from '../../page'
import type { Mistakes, Refusal } from '../../refusal'
import { Field, Post, Wrong } from '../../ui/controls'
import { show } from '../../ui/layout'
import { Fact, Head } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { Choices } from '../consumers/choose'
import { EXTERNAL_ID_HINT } from '../consumers/create'
import { type Entered, ExternalIdField, PersonFields } from '../consumers/fields'
import { ConsumerOf } from './consumer-of'
import { customerPath } from './paths'
import type { Shown } from './read'

/** The forms of the page, as they are filled in. */
export type Forms = {
  /** What names the consumer to link to. */
  text: string
  /** The consumers that it can mean, if several do. */
  found: Consumer[]
  /** The consumer to create. */
  entered: Entered
  mistakes: Mistakes
  status: Refusal['status']
}

/** The forms as they are opened: filled in with what is known of the customer. */
export function opened({ link, name, email }: Shown): Forms {
  const external_id = link.consumer_id === null ? (link.external_id ?? '') : ''
  const entered = { external_id, email: email ?? '', name: name ?? '', metadata: [] }
  return { text: '', found: [], entered, mistakes: {}, status: 200 }
}

/** Says by hand which consumer a customer is: one that is there, a new one, or none. */
export function linkPage(c: Context<HttpEnv>, of: Shown, { text, found, entered, mistakes, status }: Forms) {
  const { link, email } = of
  const path = customerPath(c, link)
  const pinned = link.linked_by === 'manual'
  return show(
    c,
    { title: 'Link customer', section: 'unlinked', above: ['Unlinked customers', pathsOf(c).unlinked], status },
    <>
      <Head title={`Which consumer is ${link.id}?`}>
        {pinned && (
          <a class="button" href={`${path}/unpin`} data-dialog>
            Unpin
          </a>
        )}
      </Head>
      <dl class="facts">
        <Fact name="Vendor">{vendorTitle(link.vendor)}</Fact>
        {of.name !== null && <Fact name="Name">{of.name}</Fact>}
        {email !== null && <Fact name="Email address">{email}</Fact>}
        <Fact name="Consumer now">
          <ConsumerOf c={c} link={link} />
        </Fact>
      </dl>
      <p class="quiet">What you choose here outranks what events say, until you unpin the customer.</p>
      <h2>Link to an existing consumer</h2>
      <Post c={c} to={`${path}/consumer`} class="form">
        <Field
          name="consumer"
          label="Consumer"
          value={text}
          required
          maxlength={300}
          hint="Your own ID, csm_… or an email address."
          mistakes={mistakes}
        />
        <button type="submit" class="primary">
          Link customer
        </button>
      </Post>
      {found.length > 0 && (
        <Choices
          c={c}
          rows={found}
          choose={({ id }) => (
            <Post c={c} to={`${path}/consumer`}>
              <input type="hidden" name="consumer" value={id} autocomplete="off" />
              <button type="submit">
                Link<span class="unseen"> to {id}</span>
              </button>
            </Post>
          )}
        />
      )}
      <h2>Create a consumer and link to it</h2>
      <Post c={c} to={`${path}/consumer/new`} class="form once">
        <Wrong>{mistakes.form}</Wrong>
        <ExternalIdField entered={entered} mistakes={mistakes} label="Your ID" hint={EXTERNAL_ID_HINT} />
        <PersonFields entered={entered} mistakes={mistakes} />
        <button type="submit">Create and link</button>
      </Post>
      <h2>No consumer</h2>
      <p class="quiet">For a customer that does not belong to any of your consumers, such as a test purchase.</p>
      <Post c={c} to={`${path}/nobody`}>
        <button type="submit">Set to no consumer</button>
      </Post>
    </>,
  )
}
