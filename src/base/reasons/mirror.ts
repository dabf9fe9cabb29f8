/** Reasons for the state of a task change on its way to a target, and of a report from a target. */
import { REMEDIES, type Reasons } from './reason.ts';

const replay = (verdict: 'dead' | 'skipped') =>
  `then deliver it again: [?delivery \`lockstep deliveries replay --id {delivery}\`][!delivery \`lockstep deliveries replay --target {target} --verdict ${verdict}\`].`;
const REPLAY = replay('dead');
const REPLAY_SKIPPED = replay('skipped');
const ENABLE = 'then enable the target: `lockstep deliveries enable {target}`.';

export const MIRROR_REASONS = {
  NO_DELIVERY: {
    meaning: 'The ledger no longer has the delivery of this change.',
    remedy: 'Its outcome is unknown; the next change of the task is delivered as usual.',
  },
  RETRYING: {
    meaning: 'The change is not delivered yet; the delivery is retried.',
    sentence:
      '{target}: [{said}][?unserved no worker serves this target]; attempts when the run ended: {attempts}; the next one was planned for {due}.',
    remedy: 'See the delivery with `lockstep deliveries --target {target}`; a worker (`lockstep start`) retries it.',
  },
  TARGET_DISABLED: {
    meaning: 'The target is disabled, so the change waits.',
    sentence: '{target} is disabled: {said}',
    remedy: `Fix the cause, ${ENABLE}`,
  },
  SUPERSEDED: {
    meaning: 'A newer change of the same task replaced this one before it was delivered.',
    sentence: 'Superseded by delivery {by}.',
  },
  BROKE_OFF: {
    meaning: 'A delivery failed because of a defect in Lockstep.',
    remedy: 'See the log of the worker, and report the defect.',
  },
  ABORTED: {
    meaning:
      'A shutdown interrupted the call, it took too long, or the worker lost its database meanwhile. The delivery is retried.',
  },
  BUDGET: { meaning: 'The rate budget had no call left in time. No attempt is spent.' },
  HELD_BACK: { meaning: 'Calls to the account are paused after several failures in a row. No attempt is spent.' },
  LIMITED: { meaning: 'The target asked to slow down. No attempt is spent.' },
  LEDGER_AWAY: { meaning: 'The ledger could not be read, so nothing was sent. No attempt is spent.' },
  ADDRESS_REFUSED: {
    meaning: 'The target’s address is in a private network, which its settings do not allow: the target is disabled.',
    remedy: `Set allowPrivate: true for the target if it runs in your own network, ${ENABLE}`,
  },
  URL_INVALID: { meaning: 'The target’s URL is wrong.', remedy: REMEDIES.IN_SETTINGS },
  UNREACHABLE: {
    meaning: 'No connection to the target was made.',
    remedy: 'Check the target’s address and network; the delivery is retried.',
  },
  CERTIFICATE: {
    meaning: 'The server’s certificate is not accepted.',
    remedy: 'Renew it, or set NODE_EXTRA_CA_CERTS to the file of its authority.',
  },
  TLS: {
    meaning: 'The server did not accept the TLS settings.',
    remedy: 'Set sslmode in the target’s URL to a mode that the server supports.',
  },
  TIMEOUT: {
    meaning: 'The target did not answer in time. It may still make the change. The delivery is retried.',
  },
  BROKEN_OFF: { meaning: 'The connection closed before the whole answer arrived. The delivery is retried.' },
  TOO_LARGE: { meaning: 'The answer is larger than the limit. The delivery is retried.' },
  SERVER_ERROR: {
    meaning:
      'The target answered with a server error, or with a status or code that the settings list under retry. The delivery is retried.',
  },
  UNAVAILABLE: { meaning: 'The database does not accept work at the moment. The delivery is retried.' },
  CONFLICT: {
    meaning:
      'The target answered that the change conflicts with another one, or that this item is changed too often. The delivery is retried.',
  },
  REDIRECT: {
    meaning: 'The service answered with a redirect, which is not followed.',
    remedy: 'Correct the base URL.',
  },
  REDIRECTED: {
    meaning: 'The target answered with a redirect, which is not followed.',
    remedy: 'Set the target’s URL to the address it redirects to.',
  },
  HTML: { meaning: 'The service answered with a web page instead of JSON.', remedy: 'Check the base URL.' },
  NO_LIST: { meaning: 'The answer holds no list where one was expected.', remedy: REMEDIES.DOCTOR },
  UNREADABLE: { meaning: 'The answer could not be read. The delivery is retried.', remedy: 'Check the target’s URL.' },
  UNKNOWN: { meaning: 'The outcome of the call is unknown. The delivery is retried.' },
  NOT_ACCEPTED: {
    meaning: 'The receiver of the webhook, or the mail server, answered with an error.',
    remedy: `Fix the receiver. Lockstep retries the delivery until it is a dead letter; ${REPLAY}`,
  },
  DROPPED: {
    meaning: 'A person dropped the delivery, because the settings did not have its target any more.',
    remedy: `To send it after all, put the target back into the settings, ${REPLAY_SKIPPED}`,
  },
  FILTERED: { meaning: 'The settings of the target do not ask for this change: see its `events` and `fields`.' },
  FIELD_INVALID: {
    meaning: 'A template yields a value that the field cannot have. The state and the other fields were written.',
    remedy: `Correct the template that the detail names, ${REPLAY}`,
  },
  PERSON_UNKNOWN: {
    meaning: 'The assignee has no id in `people` of the target. The state and the other fields were written.',
    remedy: `Add the person to \`people\` of the target, ${REPLAY}`,
  },
  LABEL_UNKNOWN: {
    meaning: 'The target has no label of that name. The state and the other fields were written.',
    remedy: `Create the label there, or correct the template, ${REPLAY}`,
  },
  FIELD_UNKNOWN: {
    meaning:
      'The target has no such field, perhaps because it was removed. The state and the other fields were written.',
    remedy: `Correct \`fields.custom\` of the target, ${REPLAY}`,
  },
  STATE_KEPT: {
    meaning: 'The target accepted the call without an error, and the item has another state afterwards.',
    remedy: `Set the state there, or give the token the permission, ${REPLAY}`,
  },
  STATE_UNSEEN: {
    meaning:
      'The target accepted the call, the item does not show the new state, and no other item has shown it either. So the settings of the state, or of the call, may be wrong. The delivery is retried.',
    remedy: `Correct \`items.state\` of the target, or the call, ${REPLAY}`,
  },
  FIELD_LEFT_OUT: {
    meaning:
      'The target accepted the call and left out a value without an error. The state and the other fields were written.',
    remedy: 'Set the value there, as the detail says.',
  },
  TEMPLATE_INVALID: {
    meaning: 'A template in the settings of the target does not fit this task.',
    remedy: `Correct the template that the detail names, ${REPLAY}`,
  },
  GONE: {
    meaning: 'The receiver says that it accepts no more calls at this address: the target is disabled.',
    remedy: `Correct the URL, ${ENABLE}`,
  },
  DISABLED: { meaning: 'The target is disabled.', remedy: `Fix the cause that is shown with it, ${ENABLE}` },
  TOKEN_REFUSED: {
    meaning: 'The target refused the token, key or password: the target is disabled.',
    remedy: `Put the right one where the settings read it from, ${ENABLE}`,
  },
  KEY_UNCLEAR: {
    meaning: 'The service refused the call, and whether it refuses the key is unclear.',
    remedy: `Run the doctor for the account that the detail names, and fix what it finds. Lockstep retries the delivery until it is a dead letter; ${REPLAY}`,
  },
  NOT_ALLOWED: {
    meaning: 'The target does not allow this change.',
    remedy: `Give the token, or the user of the database, the permission, ${REPLAY}`,
  },
  REJECTED: {
    meaning: 'The target refused the change and says why.',
    remedy: `Fix what the target reports, ${REPLAY}`,
  },
  READ_ONLY: {
    meaning: 'The repository is archived, or the issue is locked.',
    remedy: `Make it writable, or link the task with another issue, ${REPLAY}`,
  },
  ISSUES_DISABLED: {
    meaning: 'The repository has no issues: they are disabled in its settings.',
    remedy: `Enable Issues in the settings of the repository, ${REPLAY}`,
  },
  PLACE_MISSING: {
    meaning:
      'The repository, project or team in the settings does not exist or is archived, or the token may not see it.',
    remedy: `Correct the settings or the token, ${REPLAY}`,
  },
  PLACE_FULL: {
    meaning: 'The project in the settings holds as many tasks as the target allows.',
    remedy: `Complete or move tasks there, or name another project in the settings, ${REPLAY}`,
  },
  DATABASE_MISSING: {
    meaning: 'The database of the target does not exist: the target is disabled.',
    remedy: `Create it, or correct its name in the URL, ${ENABLE}`,
  },
  TABLE_MISSING: {
    meaning: 'The table or schema of the target does not exist.',
    remedy: `Create it, or set createTable: true, ${REPLAY}`,
  },
  COLUMN_MISSING: {
    meaning: 'The target’s table lacks columns.',
    remedy: `Run the statement in the detail, ${REPLAY}`,
  },
  KEY_MISSING: {
    meaning:
      'The target’s table lacks its key: (account, kind, task_id), or (account, kind, task_id, sequence) with `history: true`.',
    remedy: `Do what the detail says, ${REPLAY}`,
  },
  ITEM_ID_INVALID: {
    meaning: 'The link names no item of this target.',
    remedy: `Import the link again with a valid id (\`lockstep links import FILE --target {target} --account {account} --replace\`), ${REPLAY}`,
  },
  ITEM_MISSING: {
    meaning:
      'The item that is linked with the task, or was created for it, does not exist, or the token may not see it.',
    remedy: `Give the token access, or link the task with another item (\`lockstep links import FILE --target {target} --account {account} --replace\`), ${REPLAY} If the item is deleted and another one is to be created, first run \`lockstep links remove --target {target} --account {account} --task TASK\`.`,
  },
  ITEM_UNREADABLE: {
    meaning: 'The other account does not show whether the linked task is completed.',
    remedy: `Correct the task there, or set \`dialect.members.tasks.isCompleted\` of that account to the member that says so, ${REPLAY}`,
  },
  NOT_AN_ISSUE: {
    meaning: 'The linked item is a pull request.',
    remedy: `Link the task with an issue (\`lockstep links import FILE --target {target} --account {account} --replace\`), ${REPLAY}`,
  },
  TOO_MANY_ITEMS: {
    meaning: 'The project has too many changed items to find out whether the task already has one.',
    remedy: `Use a separate project for this target, ${REPLAY}`,
  },
  NO_STATE: {
    meaning: 'The team has no workflow state of the wanted type.',
    remedy: `Add one, or name it in the settings, ${REPLAY}`,
  },
  NO_TRANSITION: {
    meaning: 'The workflow has no transition to the wanted status.',
    remedy: `Name the status in the settings, or add the transition, ${REPLAY}`,
  },
  MOVED: {
    meaning: 'The item has moved.',
    remedy: `Link the task with the item under its new name (\`lockstep links import FILE --target {target} --account {account} --replace\`), or correct the target’s url, ${REPLAY}`,
  },
  RECURRING: {
    meaning: 'The item recurs: completing it only moves it to its next date, so it is always open, and was left alone.',
  },
  NOT_LINKED: {
    meaning: 'The task is linked with no item, and the target creates none.',
    remedy: `Link it (\`lockstep links import FILE --target {target} --account {account}\`), or set create: true for the target (http: items.create), ${REPLAY_SKIPPED}`,
  },
  NOT_SHOWN_YET: {
    meaning:
      'An item or a comment may have been created, but the target does not show it yet. Lockstep searches for it before it creates it again.',
  },
  EARLIER_UNCLEAR: {
    meaning:
      'An earlier attempt for this task had no clear answer, so the target may still make that change. The newer state is sent a minute after that attempt, so that it is the last one.',
  },
  CREATED_UNSEEN: {
    meaning:
      'A task may have been created and is not in the list yet. No other task is created until the list shows it.',
  },
  CREATED_NOT_SHOWN: {
    meaning: 'A task was created in the account, and its list does not show it.',
    remedy: `Look for it there, link it by hand (\`lockstep links import FILE --target {target} --account {account}\`), ${REPLAY}`,
  },
  CREATED_TWICE: {
    meaning: 'The account has several copies of the task.',
    remedy: `Delete all but one of them, ${REPLAY}`,
  },
  IS_A_COPY: { meaning: 'The task was itself created by Lockstep for a task elsewhere, so it is not copied again.' },
  LIST_UNSTEADY: {
    meaning:
      'Several reads of the list did not agree, so it is unknown what is missing from it. The delivery is retried.',
  },
  LIST_ENDLESS: { meaning: 'The end of the list could not be found.', remedy: REMEDIES.DOCTOR },
  RECORD_WITHOUT_ID: { meaning: 'The list has a record without an id.', remedy: REMEDIES.DOCTOR },
  LINK_AMBIGUOUS: {
    meaning: 'The text of the task names several items.',
    remedy: `Link the task with one of them (\`lockstep links import FILE --target {target} --account {account}\`), ${REPLAY_SKIPPED}`,
  },
  LINK_TAKEN: {
    meaning: 'The text of the task names an item that is linked with another task.',
    remedy: `Name the item in the text of one task only, or run \`lockstep links import FILE --target {target} --account {account} --replace\`, ${REPLAY_SKIPPED}`,
  },
  SECRET_MISSING: { meaning: 'The target’s secret is not set.', remedy: 'Set it where the settings read it from.' },
  SECRET_INVALID: { meaning: 'The target’s secret cannot be used.', remedy: REMEDIES.AT_ITS_SOURCE },
  TARGET_SECRET_INVALID: {
    meaning: 'The secret of the webhook is not in a known form.',
    remedy: REMEDIES.AT_ITS_SOURCE,
  },
  TARGET_SECRET_SHORT: { meaning: 'The secret of the webhook is too short.', remedy: 'Use a longer one.' },
  TARGET_UNKNOWN: { meaning: 'The settings name no such target.', remedy: 'Add it to the settings.' },
  DATABASE_URL_INVALID: { meaning: 'The URL of the database is wrong.', remedy: REMEDIES.IN_SETTINGS },
  ONLY_TASKS: {
    meaning: 'The item is linked with a subtask or card, and the service has no call that completes one.',
  },
  CALL_UNCONFIRMED: {
    meaning:
      'The call reports another state than the item shows. The item is read again, because a target may show a change later than it reports it.',
  },
  NOT_SCANNED: {
    meaning: 'No scan of the sync has seen the task yet. The report is applied later.',
  },
  ON_ITS_WAY: {
    meaning: 'A delivery of the task is on its way; the report is applied after it.',
  },
  TASK_GONE: { meaning: 'The task is gone from the service.' },
  TASK_MISSING: {
    meaning: 'The service does not find the task that the item is linked with.',
  },
  NO_ANSWER: { meaning: 'The service did not answer, or asked for a pause. The call is retried.' },
} as const satisfies Reasons;
