<?php
// A small application as PHP's built-in server runs it: a login that keeps a session, a form with a token, an upload, a download made by the script.
session_start();
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$_SESSION['token'] ??= bin2hex(random_bytes(8));
$user = $_SESSION['user'] ?? null;
$token = '<input type="hidden" name="token" value="' . $_SESSION['token'] . '">';

function page(string $title, string $body): void {
  echo "<!doctype html><title>$title</title><link rel=\"stylesheet\" href=\"/style.css\"><h1>$title</h1>$body";
}
// The bytes number $from to $to of the export, the same for each call.
function export(int $size): Generator {
  for ($block = 0; $size > 0; $block++, $size -= strlen($piece)) {
    $piece = substr(str_repeat(hash('sha256', "block $block", true), 2048), 0, min(65536, $size));
    yield $piece;
  }
}

if ($_SERVER['REQUEST_METHOD'] === 'POST' && !hash_equals($_SESSION['token'], $_POST['token'] ?? '')) {
  http_response_code(403);
  page('Forbidden', '<p>The form has another token.</p>');
} elseif ($path === '/') {
  page('Start', '<p id="who">' . ($user ? 'Hello, ' . htmlspecialchars($user) : 'Nobody is logged in') . '</p><a href="/login">Log in</a>');
} elseif ($path === '/style.css') {
  session_write_close();
  header_remove();
  header('Content-Type: text/css');
  header('Cache-Control: max-age=600');
  echo 'h1 { color: green }';
} elseif ($path === '/login' && $_SERVER['REQUEST_METHOD'] === 'POST') {
  if (($_POST['password'] ?? '') === 'secret') {
    session_regenerate_id(true);
    $_SESSION['user'] = $_POST['name'];
    setcookie('lang', 'en', ['expires' => 0, 'path' => '/', 'samesite' => 'Lax']);
    header("Location: http://{$_SERVER['HTTP_HOST']}/account", true, 303);
  } else {
    http_response_code(401);
    page('Log in', '<p>Wrong password</p>');
  }
} elseif ($path === '/login') {
  page('Log in', "<form method=\"post\" action=\"/login\">$token<input name=\"name\"><input name=\"password\" type=\"password\"><button>Go</button></form>");
} elseif ($user === null) {
  header('Location: /login', true, 302);
} elseif ($path === '/account') {
  $lang = htmlspecialchars($_COOKIE['lang'] ?? 'none');
  page('Account', '<p id="who">' . htmlspecialchars($user) . ", language $lang</p><a id=\"export\" href=\"/download/export.bin\">Export</a>"
    . "<form method=\"post\" action=\"/upload\" enctype=\"multipart/form-data\">$token<input type=\"file\" name=\"file\"><button>Send</button></form>");
} elseif ($path === '/upload') {
  $file = $_FILES['file'];
  page('Thank you', '<p id="got">' . htmlspecialchars($file['name']) . ' ' . $file['size'] . ' ' . hash_file('sha256', $file['tmp_name']) . '</p>');
} elseif ($path === '/download/export.bin' || $path === '/download/report.csv') {
  session_write_close();
  $size = (int)getenv('EXPORT_SIZE');
  header('Content-Type: ' . (str_ends_with($path, '.csv') ? 'text/csv; charset=utf-8' : 'application/octet-stream'));
  header('Content-Disposition: attachment; filename="' . basename($path) . '"');
  if (str_ends_with($path, '.bin')) {
    header("Content-Length: $size");
  }
  foreach (export($size) as $piece) {
    echo $piece;
  }
} elseif ($path === '/logout') {
  session_destroy();
  setcookie('PHPSESSID', '', 1, '/');
  header('Location: /', true, 302);
} else {
  http_response_code(404);
  page('Not found', '');
}
