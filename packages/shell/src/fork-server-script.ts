/**
 * The fork server, in Perl, which is small (so forks fast) and part of every Debian and Ubuntu. Its arguments are the
 * numbers of two system calls, signalfd4 and prctl.
 *
 * It reads frames: four bytes of length, then fields with NUL between them.
 *   s ID CWD SHELL NAME TEXT MERGED ENTRY…   starts a command
 *   c ID                                     this process has opened the pipes of a command: they are closed there
 * It writes lines:
 *   R FD                      ready; from this descriptor of it a word can be read
 *   S ID PID TICK OUT ERR     started, at that tick; its pipes are these descriptors of it, until `c` comes
 *   F ID ERRNO                could not be started
 *   X ID STATUS               has ended, with this status of wait(2)
 */
export const FORK_SERVER_SCRIPT = String.raw`
use strict;
use warnings;
no warnings 'exec';
use POSIX ();

my ($SIGNALFD, $PRCTL) = map { $_ + 0 } @ARGV;
my ($DEATH_SIGNAL, $SET_NAME, $SUBREAPER) = (1, 15, 36);
my $own_pid = $$;
my @ignored = qw(HUP INT QUIT TERM PIPE ALRM USR1 USR2 TSTP TTIN TTOU);
my $LAST_SECONDS = 3;

# What whoever started this left open is nothing for commands.
if (opendir(my $own, '/proc/self/fd')) {
  my @open = grep { /\A\d+\z/ && $_ > 2 } readdir $own;
  closedir $own;
  POSIX::close($_) for @open;
}

# Whoever loses its parent becomes a child of this process.
syscall($PRCTL, $SUBREAPER, 1, 0, 0, 0) == 0 or POSIX::_exit(3);
my $title = "parley-forks\0";
syscall($PRCTL, $SET_NAME, $title, 0, 0, 0);

# It ends when its input does, and by nothing that is meant for others.
$SIG{$_} = 'IGNORE' for @ignored;

# Perl runs handlers between its steps only: a signal just before select() would go unseen. So it is read instead.
POSIX::sigprocmask(POSIX::SIG_BLOCK(), POSIX::SigSet->new(POSIX::SIGCHLD()));
my $mask = pack('Q', 1 << (POSIX::SIGCHLD() - 1));
my $signals = syscall($SIGNALFD, -1, $mask, 8, 02004000);
$signals >= 0 or POSIX::_exit(4);

open(my $null, '<', '/dev/null') or POSIX::_exit(5);

my $in = '';
my $out = '';
my %pipes;    # by id: our ends, until they are opened over there
my %ids;      # by pid, while it runs
my %starting; # by descriptor that tells of its exec
my %status;   # that descriptor, by pid

sub failed {
  my ($id) = @_;
  $out .= "F $id " . ($! + 0) . "\n";
}

sub start {
  my ($id, $cwd, $shell, $name, $text, $merged, @env) = @_;
  my ($read_err, $err);
  pipe(my $read_out, my $to_out) or return failed($id);
  pipe($read_err, $err) or return failed($id) unless $merged;
  pipe(my $told, my $tell) or return failed($id);
  my $pid = fork();
  defined $pid or return failed($id);
  if ($pid == 0) {
    eval { become($tell, $to_out, $err // $to_out, $cwd, $shell, $name, $text, @env) };
    POSIX::_exit(127);
  }
  # Not waited for yet, so it still has its entry.
  my $tick = (stat_of($pid) // [])->[4] // 0;
  my $fd = fileno $told;
  $pipes{$id} = [$read_out, $read_err];
  $ids{$pid} = $id;
  $status{$pid} = $fd;
  $starting{$fd} = [$told, $id, $pid, $tick];
}

# In the child. All descriptors but 0, 1 and 2 close at the exec.
sub become {
  my ($tell, $to_out, $to_err, $cwd, $shell, $name, $text, @env) = @_;
  # When this process is ended by force, nobody knows any more what it started.
  syscall($PRCTL, $DEATH_SIGNAL, 9, 0, 0, 0);
  return if getppid() != $own_pid;
  POSIX::setsid();
  POSIX::dup2(fileno $null, 0);
  POSIX::dup2(fileno $to_out, 1);
  POSIX::dup2(fileno $to_err, 2);
  $SIG{$_} = 'DEFAULT' for @ignored;
  POSIX::sigprocmask(POSIX::SIG_SETMASK(), POSIX::SigSet->new());
  %ENV = map { /\A(.*?)=(.*)\z/s } @env;
  chdir($cwd) and exec { $shell } $name, '-c', $text;
  syswrite $tell, $! + 0;
}

# The exec has closed the pipe, or its failure is in it.
sub settle {
  my ($told, $id, $pid, $tick) = @{ delete $starting{ $_[0] } };
  delete $status{$pid};
  sysread $told, my $errno, 16;
  if ($errno) {
    delete $pipes{$id};
    delete $ids{$pid};
    $out .= "F $id $errno\n";
    return;
  }
  my ($stdout, $stderr) = @{ $pipes{$id} };
  $out .= "S $id $pid $tick " . fileno($stdout) . ' ' . ($stderr ? fileno $stderr : -1) . "\n";
}

# Also orphans: they have come to this process, and nobody else can wait for them.
sub reap {
  POSIX::read($signals, my $infos, 1280);
  while ((my $pid = waitpid(-1, POSIX::WNOHANG())) > 0) {
    my $how = $?;
    settle($status{$pid}) if exists $status{$pid};
    my $id = delete $ids{$pid};
    $out .= "X $id $how\n" if defined $id;
  }
}

sub obey {
  my ($what, $id, @rest) = split /\0/, $_[0], -1;
  if ($what eq 's') { start($id, @rest) }
  else { delete $pipes{$id} }
}

sub say_it {
  while (length $out) {
    my $written = syswrite STDOUT, $out;
    if (defined $written) { substr($out, 0, $written, '') }
    elsif ($! != POSIX::EINTR()) { $out = '' }
  }
}

# State, parent, group, session and first tick of a process.
sub stat_of {
  open(my $file, '<', "/proc/$_[0]/stat") or return;
  sysread $file, my $line, 4096;
  my @field = split / /, substr($line // '', rindex($line // '', ')') + 2);
  return @field > 19 ? [@field[0 .. 3], $field[19]] : undef;
}

# The living that descend from this process, with their groups.
sub descendants {
  opendir(my $proc, '/proc') or return;
  my (%group, %children);
  for my $pid (grep { /\A\d+\z/ } readdir $proc) {
    my $stat = stat_of($pid) or next;
    $group{$pid} = $stat->[2] if $stat->[0] !~ /[ZX]/;
    push @{ $children{ $stat->[1] } }, $pid;
  }
  my @found = @{ $children{$$} // [] };
  for (my $i = 0; $i < @found; $i++) { push @found, @{ $children{ $found[$i] } // [] } }
  return map { [$_, $group{$_}] } grep { defined $group{$_} } @found;
}

# Those whose parents end come to this process, so that in the end nobody is left.
sub end_all {
  my $until = time + $LAST_SECONDS;
  while (time <= $until) {
    1 while waitpid(-1, POSIX::WNOHANG()) > 0;
    my @left = descendants() or last;
    for (@left) {
      my ($pid, $group) = @$_;
      kill 'KILL', $group == getpgrp() ? $pid : -$group;
    }
    select undef, undef, undef, 0.005;
  }
}

{
  pipe(my $probe, my $to_probe) or POSIX::_exit(6);
  syswrite $to_probe, 'ready';
  $pipes{0} = [$probe];
  $out = 'R ' . fileno($probe) . "\n";
}

for (;;) {
  say_it();
  my $ready = '';
  vec($ready, $_, 1) = 1 for 0, $signals, keys %starting;
  next if select($ready, undef, undef, undef) < 0;
  for (keys %starting) { settle($_) if vec($ready, $_, 1) }
  reap() if vec($ready, $signals, 1);
  next unless vec($ready, 0, 1);
  my $got = sysread STDIN, $in, 1 << 18, length $in;
  next if !defined $got && $! == POSIX::EINTR();
  last unless $got;
  while (length $in >= 4 && length $in >= 4 + (my $length = unpack 'N', $in)) {
    obey(substr($in, 4, $length));
    substr($in, 0, 4 + $length, '');
  }
}
end_all();
`;
