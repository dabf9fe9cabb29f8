/** E-mails and phones that are shown in part only, such as `a***@example.com`. */

/** A regular expression of JavaScript and of Postgres. */
export const MASK = /[*•●]{2}|…/;
