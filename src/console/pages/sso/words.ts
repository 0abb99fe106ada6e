/** What the page for signing in says, by the reason of a refusal. Never a text of the provider: whoever makes a link could choose it. */
const WORDS = new Map(
  Object.entries({
    provider_unreachable: 'Your identity provider cannot be reached right now. Try again in a few minutes.',
    sign_in_refused: 'Your identity provider did not sign you in. Try again, or ask the person who manages it.',
    connection_inactive: 'This single sign-on connection is not active. Ask an admin of the project.',
    domain_unverified: 'This single sign-on connection has no verified domain. Ask an admin of the project.',
    email_missing: 'Your identity provider did not send an email address. Ask the person who manages it.',
    email_unverified:
      'Your identity provider does not say that your email address is verified. Ask the person who manages it.',
    domain_not_owned:
      'The domain of your email address is not verified for this single sign-on connection. Ask an admin of the project.',
    owner_unproven:
      'You are an owner of the project. Sign in with a code first. Then sign in with single sign-on in the same browser within 10 minutes, and agree to what the page says. This links single sign-on to your account.',
    not_invited: 'You are not a member of the project. Ask one of its admins to invite you.',
  }),
)

/** Why single sign-on signed nobody in. */
export function refusalWords(reason: string): string {
  return (
    WORDS.get(reason) ??
    'The response of your identity provider could not be used. An admin of the project can test the connection to find out why.'
  )
}
