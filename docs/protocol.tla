------------------------------ MODULE protocol ------------------------------
(* The creation of one row, as docs/protocol.md describes it ("Creation"): the ledger, two processes, and a service that commits late    *)
(* and shows late. Any process may stand still for any time, or be killed, at every step. Times are in ticks, as ages, and an age stops  *)
(* growing where it no longer makes a difference, so there are finitely many states. test/engine/create-protocol.test.ts explores all.   *)
EXTENDS Integers, Sequences

CONSTANTS
  Settle,         \* Within it the service commits a request or drops it (A1); within it, too, a read shows a commit (A2).
  CommitsWithin,  \* When the service really has committed or dropped a request. More than Settle breaks A1.
  Wait,           \* From an unknown outcome until a read may prove that the record is absent.
  Timeout,        \* Until a call is given up.
  Lease,          \* How long a claim holds.
  MostSends,
  ClaimsFirst,    \* A claim is durable before a request is sent.
  Minds,          \* No request leaves so late that its answer could come after the claim.
  Fenced          \* An outcome is recorded only under the claim it was sent under.

VARIABLES
  row,            \* In the ledger: "ready", "claimed", "unknown" or "created".
  owner,          \* The process that has the claim; 0 is none.
  lease,          \* How long the claim still holds.
  unknownAge,
  sends,
  sentAge,        \* Since the row was last sent.
  processes,
  requests,
  records,        \* The ages of the records that exist.
  audited         \* How many records the audit saw; -1: it was not made.

vars == <<row, owner, lease, unknownAge, sends, sentAge, processes, requests, records, audited>>
ledger == <<row, owner, lease, unknownAge>>
service == <<requests, records>>

Processes == 1..2
Idle == [at |-> "idle", lease |-> 0, request |-> 0]

Init ==
  /\ row = "ready"
  /\ owner = 0
  /\ lease = 0
  /\ unknownAge = 0
  /\ sends = 0
  /\ sentAge = 0
  /\ processes = [p \in Processes |-> Idle]
  /\ requests = <<>>
  /\ records = <<>>
  /\ audited = -1

-----------------------------------------------------------------------------
(* The ledger. *)

Keep == UNCHANGED ledger
Give(to) == /\ row' = to
            /\ owner' = 0
            /\ lease' = 0
            /\ unknownAge' = 0
Becomes(p, next) == processes' = [processes EXCEPT ![p] = next]

Claim(p) ==
  /\ processes[p].at = "idle"
  /\ row = "ready"
  /\ owner = 0 \/ lease = 0
  /\ sends < MostSends
  /\ Becomes(p, [at |-> "holding", lease |-> Lease, request |-> 0])
  /\ IF ClaimsFirst
       THEN /\ row' = "claimed"
            /\ owner' = p
            /\ lease' = Lease
            /\ UNCHANGED unknownAge
       ELSE Keep
  /\ UNCHANGED <<sends, sentAge, service, audited>>

(* The claim has expired, and the row may have been sent. *)
TakeOver ==
  /\ \E p \in Processes : processes[p].at = "idle"
  /\ row = "claimed"
  /\ lease = 0
  /\ Give("unknown")
  /\ UNCHANGED <<sends, sentAge, processes, service, audited>>

(* The claim is given back at once where the death is noticed, or expires. *)
Die(p) ==
  /\ processes[p].at # "idle"
  /\ Becomes(p, Idle)
  /\ \/ Keep
     \/ owner = p /\ Give("unknown")
  /\ UNCHANGED <<sends, sentAge, service, audited>>

-----------------------------------------------------------------------------
(* A call, and what becomes of it. *)

IsLate(p) == Minds /\ processes[p].lease < Timeout

Send(p) ==
  /\ processes[p].at = "holding"
  /\ ~IsLate(p)
  /\ sends < MostSends
  /\ requests' = Append(requests, [age |-> 0, fate |-> "open"])
  /\ Becomes(p, [processes[p] EXCEPT !.at = "calling", !.request = Len(requests) + 1])
  /\ sends' = sends + 1
  /\ sentAge' = 0
  /\ UNCHANGED <<ledger, records, audited>>

SendNothing(p) ==
  /\ processes[p].at = "holding"
  /\ IsLate(p)
  /\ Becomes(p, Idle)
  /\ UNCHANGED <<ledger, sends, sentAge, service, audited>>

Hear(p) ==
  /\ processes[p].at = "calling"
  /\ requests[processes[p].request].fate = "committed"
  /\ requests[processes[p].request].age <= Timeout
  /\ Becomes(p, [processes[p] EXCEPT !.at = "acked"])
  /\ UNCHANGED <<ledger, sends, sentAge, service, audited>>

GiveUp(p) ==
  /\ processes[p].at = "calling"
  /\ Becomes(p, [processes[p] EXCEPT !.at = "gave-up"])
  /\ UNCHANGED <<ledger, sends, sentAge, service, audited>>

Record(p) ==
  /\ processes[p].at \in {"acked", "gave-up"}
  /\ Becomes(p, Idle)
  /\ IF Fenced /\ ClaimsFirst /\ ~(row = "claimed" /\ owner = p)
       THEN Keep
       ELSE IF processes[p].at = "acked"
         THEN /\ row' = "created"
              /\ owner' = 0
              /\ lease' = 0
              /\ UNCHANGED unknownAge
         ELSE Give("unknown")
  /\ UNCHANGED <<sends, sentAge, service, audited>>

Commit(i) ==
  /\ requests[i].fate = "open"
  /\ requests' = [requests EXCEPT ![i].fate = "committed"]
  /\ records' = Append(records, 0)
  /\ UNCHANGED <<ledger, sends, sentAge, processes, audited>>

Drop(i) ==
  /\ requests[i].fate = "open"
  /\ requests' = [requests EXCEPT ![i].fate = "dropped"]
  /\ UNCHANGED <<ledger, sends, sentAge, processes, records, audited>>

-----------------------------------------------------------------------------
(* Reads of the whole list. A record that is younger than Settle may be missing. *)

Sure == Len(SelectSeq(records, LAMBDA age : age >= Settle))
Most == Len(records)

ReadBack ==
  /\ row = "unknown"
  /\ unknownAge >= Wait
  /\ \/ Most > 0 /\ row' = "created"
     \/ Sure = 0 /\ row' = "ready"
  /\ UNCHANGED <<owner, lease, unknownAge, sends, sentAge, processes, service, audited>>

Audit ==
  /\ row = "created"
  /\ sends > 1
  /\ audited = -1
  /\ sentAge >= 3 * Settle
  /\ audited' = Sure
  /\ UNCHANGED <<ledger, sends, sentAge, processes, service>>

-----------------------------------------------------------------------------
(* Time passes, unless the service has to decide first. *)

Older(age, most) == IF age < most THEN age + 1 ELSE age
Less(left) == IF left > 0 THEN left - 1 ELSE 0

Tick ==
  /\ \A i \in 1..Len(requests) : requests[i].fate = "open" => requests[i].age < CommitsWithin
  /\ lease' = Less(lease)
  /\ unknownAge' = IF row = "unknown" THEN Older(unknownAge, Wait) ELSE 0
  /\ sentAge' = IF sends > 0 THEN Older(sentAge, 3 * Settle) ELSE 0
  /\ processes' = [p \in Processes |-> [processes[p] EXCEPT !.lease = Less(processes[p].lease)]]
  /\ requests' = [i \in 1..Len(requests) |-> [requests[i] EXCEPT !.age = Older(requests[i].age, CommitsWithin)]]
  /\ records' = [i \in 1..Len(records) |-> Older(records[i], Settle)]
  /\ UNCHANGED <<row, owner, sends, audited>>

Next ==
  \/ \E p \in Processes : Claim(p) \/ Die(p) \/ Send(p) \/ SendNothing(p) \/ Hear(p) \/ GiveUp(p) \/ Record(p)
  \/ \E i \in 1..Len(requests) : Commit(i) \/ Drop(i)
  \/ TakeOver
  \/ ReadBack
  \/ Audit
  \/ Tick

Spec == Init /\ [][Next]_vars

-----------------------------------------------------------------------------
TypeOK ==
  /\ row \in {"ready", "claimed", "unknown", "created"}
  /\ owner \in 0..2
  /\ lease \in 0..Lease
  /\ unknownAge \in 0..Wait
  /\ sends \in 0..MostSends
  /\ sends = Len(requests)
  /\ sentAge \in 0..(3 * Settle)
  /\ audited \in -1..MostSends

(* The promise: under the assumptions, never two records. *)
NotDoubled == Len(records) <= 1
(* What the ledger calls created exists. *)
NotLost == row = "created" => Len(records) > 0
(* An audit that was made saw every record there is, also where the service commits later than Settle. *)
Reported == audited >= 0 => audited = Len(records)
(* A state that nothing follows is one of two: created, or given up after the last send with the record proved absent. *)
Done == \/ row = "created" /\ (sends > 1 => audited >= 0)
        \/ row = "ready" /\ sends = MostSends /\ records = <<>>
=============================================================================
