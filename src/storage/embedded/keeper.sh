# Keeps the Postgres of one Lockstep data directory: runs it as a child, and stops it once no process uses it.
# Started by keeper.ts, with Postgres' data directory as working directory (paths here are relative to it, since its
# parents may be unreachable for this user). Arguments: the socket's directory, then the command that runs Postgres.
#   fd 3: the read end of users.fifo. Every user holds the write end, so reading finds its end when there is none left.
#   fd 4: the read end of family.fifo, held by this shell and every Postgres process.
# Lines in users.fifo: "hello NAME" and "bye" from users; "started PID" and "exited PID" about Postgres.
socket_dir=$1
shift

run() {
  "$@" &
  # <> because opening for writing would wait endlessly for a reader once the keeper has been killed.
  echo "started $!" 1<>../users.fifo
  wait "$!"
  echo "exited $!" 1<>../users.fifo
}

nap() { # $1: seconds, a fraction where this system's sleep knows them
  sleep "$1" 2>/dev/null || sleep 1
}

# fd 3 is closed first: a process that finds the socket gone finds no keeper either, waits until this one has ended and starts another.
trap 'exec 3<&-; rm -f ../acks/* "$socket_dir"/.s.PGSQL.*; rmdir "$socket_dir"' EXIT
{
  exec 3<&- # not as a redirection of the call, for which the shell would keep a copy open
  run "$@"
} &

postgres=
patience=30
idle=0
while [ -z "$postgres" ] || [ "$idle" -le "$patience" ]; do
  if read -r word rest <&3; then
    idle=0
    case $word in
      hello) patience=30; : >"../acks/$rest" ;;
      bye) patience=0 ;; # left in good order: no crash, which a restart would follow
      started) postgres=$rest ;;
      exited) [ "$rest" != "$postgres" ] || exit 1 ;;
    esac
  else
    idle=$((idle + 1))
    [ "$idle" -gt "$patience" ] || nap 0.1
  fi
done

exec 3<&- # from now on new users see that this Postgres has no keeper; they wait until it has ended and start another
tries=0
signal=INT
while kill -s "$signal" "$postgres" 2>/dev/null; do # repeated, since one that comes too early in its life is lost
  tries=$((tries + 1))
  [ "$tries" -lt 1000 ] || signal=QUIT
  nap 0.03
done
wait
